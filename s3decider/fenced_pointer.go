package s3decider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/cloudelect/cloudelect/core"
)

// pointerFormat is the major version of the stored form of a pointer. Whoever does
// not understand one must not overwrite it.
const pointerFormat = 1

// maxPointer bounds a pointer, in bytes; they have a few hundred.
const maxPointer = 16 << 10

// pointer is what lies under a fenced object's key.
type pointer struct {
	Format   int    `json:"cloudelect_fenced"`
	Token    int64  `json:"fencing_token"`
	Nonce    string `json:"nonce"` // fresh for every write: two pointers are never equal; "": there is none
	Data     string `json:"data"`
	Replaced string `json:"replaced,omitempty"` // the data of the pointer before this one

	etag string // of the version that was read
}

// pointer reads the current pointer.
func (f *FencedObject) pointer(ctx context.Context) (pointer, error) {
	if ctx.Err() != nil {
		return pointer{}, f.object.notSent(ctx, read)
	}
	got, err := get(ctx, f.client, f.object, f.opts.ExpectedBucketOwner, maxPointer)
	if errors.Is(err, errTooLarge) {
		return pointer{}, f.foreign(err)
	}
	if err != nil {
		if err = f.object.explain(ctx, read, err); errors.Is(err, errAbsent) {
			return pointer{}, nil
		}
		return pointer{}, err
	}
	var p pointer
	if err := json.Unmarshal(got.body, &p); err != nil {
		return pointer{}, f.foreign(err)
	}
	switch {
	case p.Format > pointerFormat:
		return pointer{}, f.broken("read", fmt.Errorf("format version %d is newer than %d", p.Format, pointerFormat), "update this program")
	case p.Format != pointerFormat || p.Nonce == "" || p.Token < 0:
		return pointer{}, f.foreign(errors.New("the fields of a pointer are missing"))
	case !f.ownsData(p.Data) || p.Replaced != "" && !f.ownsData(p.Replaced):
		return pointer{}, f.foreign(fmt.Errorf("it points to %s", quote(p.Data)))
	case !usableETag(got.etag):
		return pointer{}, f.broken("read", errNoETag, "the store, or a proxy before it, leaves the ETag header out: nothing can be fenced there")
	}
	p.etag = got.etag
	return p, nil
}

// swap puts p in the place of base, once. The error is in one of the classes of
// core.RaceDecider's WriteEntry.
func (f *FencedObject) swap(ctx context.Context, base, p pointer) error {
	if ctx.Err() != nil {
		return f.object.notSent(ctx, overwrite)
	}
	body, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return f.object.misuse("write", err)
	}
	op, in := overwrite, f.opts.input(f.object, append(body, '\n'))
	if base.etag == "" {
		op, in.IfNoneMatch = create, aws.String("*")
	} else {
		in.IfMatch = &base.etag
	}
	if _, err = f.client.PutObject(ctx, in, once); err != nil {
		return f.object.explain(ctx, op, err)
	}
	return nil
}

// upload stores the data under its fresh key. It may be sent twice: it is the same.
func (f *FencedObject) upload(ctx context.Context, key string, data []byte) error {
	if ctx.Err() != nil {
		return f.object.notSent(ctx, create)
	}
	to := object{f.object.bucket, key}
	in := f.opts.input(to, data)
	in.Body = bytes.NewReader(data)
	in.CacheControl = nil // it never changes
	in.ContentType = aws.String("application/octet-stream")
	if f.opts.ContentType != "" {
		in.ContentType = &f.opts.ContentType
	}
	if _, err := f.client.PutObject(ctx, in, gently); err != nil {
		return to.explain(ctx, create, err)
	}
	return nil
}

// erase deletes data that nobody refers to any more.
func (f *FencedObject) erase(ctx context.Context, keys ...string) {
	for _, key := range keys {
		if key == "" {
			continue
		}
		err := erase(ctx, f.client, object{f.object.bucket, key}, f.opts.ExpectedBucketOwner)
		if err != nil && f.opts.Leftover != nil {
			f.opts.Leftover(key, err)
		}
	}
}

func (f *FencedObject) foreign(err error) error {
	return f.broken("read", err, "what is stored there was not written by a FencedObject: choose another key, or remove it")
}

func (f *FencedObject) broken(what string, err error, todo string) error {
	return &storeError{where: f.object, what: what, err: err, todo: todo, is: []error{core.ErrBroken}}
}
