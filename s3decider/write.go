package s3decider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cloudelect/cloudelect/core/entry"
)

// WriteEntry stores e in one request, without a retry, if the ETag that e.Token
// names is still the current one, or, with the token of a missing object, if there is
// still none. See core.RaceDecider for the four outcomes, and the package comment
// for which answer means which. A lost race is a *core.LostRaceError with no Current:
// S3 does not say what it has.
//
// An entry that is not valid or too large, and a token that is not this
// package's, are refused before anything is sent: the error Is core.ErrBroken and
// core.ErrInvalidConfig.
func (d *Decider) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if d.invalid != nil {
		return nil, d.invalid
	}
	if e == nil {
		return nil, d.object.misuse("write", errors.New("there is no entry; pass one"))
	}
	base, err := tokenOf(e)
	if err != nil {
		return nil, d.object.misuse("write", err)
	}
	body, err := entry.Encode(e)
	if err == nil && len(body) > maxSize {
		err = fmt.Errorf("%w: %d bytes of JSON, more than %d; shorten HostPort or ConnectionParams", entry.ErrBad, len(body), maxSize)
	}
	if err != nil {
		return nil, d.object.misuse("write", err)
	}
	op, in := overwrite, d.opts.input(d.object, body)
	if base.etag == "" {
		op, in.IfNoneMatch = create, aws.String("*")
	} else {
		in.IfMatch = &base.etag
	}
	if ctx.Err() != nil {
		return nil, d.object.notSent(ctx, op)
	}
	if err := d.probed(ctx); err != nil {
		return nil, err
	}
	out, err := d.client.PutObject(ctx, in, once)
	if err == nil && !usableETag(aws.ToString(out.ETag)) {
		err = errNoETag
	}
	if err != nil {
		return nil, d.object.explain(ctx, op, err)
	}
	return &Token{etag: *out.ETag, date: storeDate(headerOf(out.ResultMetadata))}, nil
}

// input is an upload of JSON without a condition.
func (o *Options) input(to object, body []byte) *s3.PutObjectInput {
	in := &s3.PutObjectInput{
		Bucket: &to.bucket, Key: &to.key,
		Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))),
		ContentType: aws.String("application/json"), CacheControl: aws.String("no-store"),
		StorageClass: o.StorageClass, ChecksumAlgorithm: o.ChecksumAlgorithm,
		ExpectedBucketOwner: optional(o.ExpectedBucketOwner),
	}
	if o.KMSKeyID != "" {
		in.ServerSideEncryption, in.SSEKMSKeyId = types.ServerSideEncryptionAwsKms, &o.KMSKeyID
	}
	if o.BucketKey {
		in.BucketKeyEnabled = aws.Bool(true)
	}
	if len(o.Tags) > 0 {
		tags := url.Values{}
		for name, value := range o.Tags {
			tags.Set(name, value)
		}
		in.Tagging = aws.String(tags.Encode())
	}
	addChecksum(in, body)
	return in
}
