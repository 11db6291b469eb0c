package gcsdecider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// errNoGeneration is about an answer that says 200 and names no version.
var errNoGeneration = errors.New("the answer names no generation")

// errEndless ends a read that opens the object again and again.
var errEndless = errors.New("the content cannot be read to its end")

const (
	readAttempts = 4  // of one read, when the store or the network fails for a moment
	maxRequests  = 16 // of one read, altogether
)

// ReadCurrent reads the object; see core.RaceDecider. A passing failure is tried
// again, up to three times, within ctx. Content that is no entry is an
// error that Is core.ErrBadEntry and names the version for the operator who
// breaks it. An entry of vimeo/leaderelection is read as well, whatever Options
// say: it is one by entry.RaceEntry's Foreign.
func (d *Decider) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	if d.invalid != nil {
		return nil, d.invalid
	}
	if ctx.Err() != nil {
		return nil, d.notSent(ctx, read)
	}
	ctx, note := withNote(ctx)
	body, t, err := d.get(ctx)
	if err != nil && t == nil {
		if err = d.explain(ctx, read, err); !errors.Is(err, errAbsent) {
			return nil, err
		}
		return &entry.RaceEntry{ElectionNumber: entry.NoElections, Token: &Token{date: note.get()}}, nil
	}
	t.date = note.get()
	var e *entry.RaceEntry
	if err == nil {
		e, err = decode(body, t)
	}
	if err != nil {
		return &entry.RaceEntry{Token: t}, d.bad(t, err)
	}
	return e, nil
}

// bad says that the current version is no entry, and what to do about it.
func (d *Decider) bad(t *Token, err error) error {
	return &storeError{
		where: d.String(), what: fmt.Sprintf("generation %s is not an entry", t), err: err,
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

// get reads the current generation's bytes. An error with a token says that
// this generation is there and cannot be an entry.
func (d *Decider) get(ctx context.Context) ([]byte, *Token, error) {
	ctx, cancel := limitRequests(ctx)
	defer cancel(nil)
	r, err := d.handle().Retryer(
		storage.WithPolicy(storage.RetryIdempotent),
		storage.WithMaxAttempts(readAttempts),
		storage.WithBackoff(gax.Backoff{Initial: 100 * time.Millisecond, Max: time.Second, Multiplier: 2}),
	).NewReader(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	if r.Attrs.Generation <= 0 {
		return nil, nil, errNoGeneration
	}
	t := &Token{generation: r.Attrs.Generation, commit: r.Attrs.LastModified}
	body, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	switch {
	case err == nil && len(body) > maxSize:
		return nil, t, fmt.Errorf("it has more than %d bytes", maxSize)
	case err != nil && r.Attrs.Decompressed && errors.Is(context.Cause(ctx), errEndless):
		return nil, t, errors.New("it is marked as gzip and does not decompress")
	case err != nil:
		return nil, nil, err
	}
	return body, t, nil
}

// limitRequests ends ctx when a call sends more requests than any honest read
// needs. The client opens an object again, at once and for ever, whenever
// reading the body fails; for an object with Content-Encoding gzip that is not gzip it
// always does.
func limitRequests(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	var sent atomic.Int32
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GetConn: func(string) {
		if sent.Add(1) > maxRequests {
			cancel(errEndless)
		}
	}}), cancel
}
