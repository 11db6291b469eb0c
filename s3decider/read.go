package s3decider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// errNoETag is about an answer that says yes and names no version.
var errNoETag = errors.New("the answer has no usable ETag")

// errTooLarge is about content beyond the limit.
var errTooLarge = errors.New("it is too large")

// ReadCurrent reads the object; see core.RaceDecider. A passing failure is tried
// again as the client is set up to (s3.Options.Retryer), within ctx. Content that is
// no entry is an error that Is core.ErrBadEntry and names the version for the
// operator who breaks it. An entry whose ETag the answer leaves out is an error
// that Is core.ErrBroken: nothing could be built on it.
func (d *Decider) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	if d.invalid != nil {
		return nil, d.invalid
	}
	if ctx.Err() != nil {
		return nil, d.object.notSent(ctx, read)
	}
	got, err := get(ctx, d.client, d.object, d.opts.ExpectedBucketOwner, maxSize)
	tooLarge := errors.Is(err, errTooLarge)
	if err != nil && !tooLarge {
		if err = d.object.explain(ctx, read, err); !errors.Is(err, errAbsent) {
			return nil, err
		}
		return &entry.RaceEntry{ElectionNumber: entry.NoElections, Token: &Token{date: got.date}}, nil
	}
	var e *entry.RaceEntry
	if !tooLarge {
		e, err = entry.Decode(got.body)
	}
	if !usableETag(got.etag) {
		return nil, d.noETag(err == nil)
	}
	t := &Token{etag: got.etag, commit: got.modified, date: got.date}
	if err != nil {
		return &entry.RaceEntry{Token: t}, d.bad(t, err)
	}
	e.Token = t
	return e, nil
}

// noETag is about content without a version: an entry comes from a store that
// names none, anything else may be the page of whoever stands in between.
func (d *Decider) noETag(entry bool) error {
	e := &storeError{where: d.object, what: "read", err: errNoETag,
		todo: "this is no answer of S3: see to the endpoint and the proxies before it"}
	if entry {
		e.todo = "the store, or a proxy before it, leaves the ETag header out: no election can be held there"
		e.is = []error{core.ErrBroken}
	}
	return e
}

// bad says that the current version is no entry, and what to do about it.
func (d *Decider) bad(t *Token, err error) error {
	return &storeError{
		where: d.object, what: fmt.Sprintf("the version with ETag %s is not an entry", t), err: err,
		todo: adviceFor(d, t, err),
		is:   []error{core.ErrBadEntry},
	}
}

// adviceFor says what to do about content that is no entry. One of a newer format may
// be somebody's reign, so nothing is said there that would end it.
func adviceFor(d *Decider, t *Token, err error) string {
	if errors.Is(err, entry.ErrNewer) {
		return "update this program, and do not break the entry: a newer one has written it, and somebody may lead by it"
	}
	return fmt.Sprintf("look at it, and if nobody needs it: elect break --store %s --corrupt --version %s",
		shellWord(d.String()), shellWord(t.String()))
}

// shellWord is what a shell takes for this one word.
func shellWord(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// content is an object as it was read.
type content struct {
	body     []byte
	etag     string // "": the answer had none
	modified time.Time
	date     time.Time // the store's clock; of a failure too, where it says
}

// get reads an object of at most limit bytes. The content has an ETag and no body
// when the error Is errTooLarge, and a date whenever there was an answer.
func get(ctx context.Context, client interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}, o object, owner string, limit int64) (content, error) {
	out, err := client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &o.bucket, Key: &o.key, ExpectedBucketOwner: optional(owner),
	}, gently)
	if err != nil {
		return content{date: storeDate(headerIn(err))}, err
	}
	c := content{etag: aws.ToString(out.ETag), modified: aws.ToTime(out.LastModified), date: storeDate(headerOf(out.ResultMetadata))}
	if out.Body == nil { // of no HTTP client's, but an API may be anything
		out.Body = http.NoBody
	}
	c.body, err = io.ReadAll(io.LimitReader(out.Body, limit+1))
	if err == nil && int64(len(c.body)) > limit {
		err = fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
	}
	if err != nil {
		c.body = nil
		_ = out.Body.Close() // what was read is not used
		return c, err
	}
	return c, out.Body.Close() // a checksum is compared in the end
}
