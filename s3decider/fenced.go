package s3decider

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// FencedAPI is the part of *s3.Client that a FencedObject uses.
type FencedAPI interface {
	API
	DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, optFns ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
}

// FencedOptions are what may be chosen about a FencedObject. Nil, or the zero
// value, is right for most.
type FencedOptions struct {
	// Options say how the objects are stored, the pointer and the data alike.
	// ProbeFirst has no meaning here: probe the election's decider.
	Options
	// ContentType of the data; "": application/octet-stream.
	ContentType string
	// MaxSize bounds the data, in bytes, in both directions; 0: 64 MiB. The data
	// is held in memory.
	MaxSize int64
	// Leftover is told of data that nobody refers to any more and that could not
	// be deleted, with the reason; nil: nobody is. Nothing but the storage it takes
	// depends on it. It must return soon.
	Leftover func(key string, err error)
}

// FencedObject is content that leaders of an election write one after the other,
// and that a leader of the past cannot overwrite, however long it was frozen and
// whatever its clock says: the object remembers the highest fencing token that wrote
// it. Everybody who writes it must write through a FencedObject.
//
// Equal bytes have equal ETags in S3, so an ETag of the content cannot settle a
// race. So the object under the key is a small pointer in JSON: the token, a nonce
// that no two writes share, and the key of the data, which lies beside it under a
// fresh key, key + ".data-...". A write stores its data first, then swaps the
// pointer if its ETag is still the one that was read, then deletes the data that was
// replaced. Reading follows the pointer.
//
// A write costs a read, two writes and up to two deletions. A write that comes to no
// end leaves data behind that nobody refers to. Let no lifecycle rule expire
// objects with this prefix: the current data is one of them.
//
// It is safe for concurrent use. Get one from NewFencedObject.
type FencedObject struct {
	client  FencedAPI
	object  object
	opts    FencedOptions
	invalid error
}

// Fenced is what a FencedObject holds.
type Fenced struct {
	Data  []byte
	Token int64 // the fencing token of the leader that wrote it
}

const (
	dataMark    = ".data-"
	defaultSize = 64 << 20
	reads       = 8 // of a pointer that changes while its data is being read
)

// NewFencedObject returns the fenced object under s3://bucket/key, which need not
// exist. Options may be nil. It sends nothing; a parameter that cannot be right is
// reported by each method, as an error that Is core.ErrBroken and
// core.ErrInvalidConfig. Do not give it an election's own key.
func NewFencedObject(client FencedAPI, bucket, key string, opts *FencedOptions) *FencedObject {
	f := &FencedObject{client: client, object: object{bucket, key}}
	if opts != nil {
		f.opts = *opts
	}
	if f.opts.MaxSize == 0 {
		f.opts.MaxSize = defaultSize
	}
	err := validate(client, bucket, key, f.opts.Options)
	if longest := maxKey - len(dataMark) - len(rand.Text()); err == nil && len(key) > longest {
		err = fmt.Errorf("key %s has %d bytes; the data needs room beside it: shorten it to %d at most", quote(key), len(key), longest)
	}
	if f.opts.MaxSize < 0 {
		err = errors.Join(err, fmt.Errorf("FencedOptions.MaxSize %d is negative", f.opts.MaxSize))
	}
	if err != nil {
		f.invalid = f.object.misuse("set up", err)
	}
	return f
}

// String is the object's address, s3://bucket/key.
func (f *FencedObject) String() string { return f.object.String() }

// Read returns the content and the token that wrote it. Where nothing was written
// yet the error Is fs.ErrNotExist. An error that Is core.ErrBroken says that a person
// must act: denied, no bucket, or something under the key that no FencedObject wrote.
func (f *FencedObject) Read(ctx context.Context) (*Fenced, error) {
	if f.invalid != nil {
		return nil, f.invalid
	}
	seen := "" // the nonce of a pointer whose data was not there
	for range reads {
		p, err := f.pointer(ctx)
		switch {
		case err != nil:
			return nil, err
		case p.Nonce == "":
			return nil, &storeError{where: f.object, what: "read", err: fs.ErrNotExist, todo: "nothing was written yet"}
		case p.Nonce == seen:
			return nil, f.broken("read", fmt.Errorf("the data %s is missing", p.Data), "somebody deleted it: write the object again, and see to lifecycle rules")
		}
		got, err := get(ctx, f.client, object{f.object.bucket, p.Data}, f.opts.ExpectedBucketOwner, f.opts.MaxSize)
		if err == nil {
			return &Fenced{Data: got.body, Token: p.Token}, nil
		}
		if errors.Is(err, errTooLarge) {
			return nil, f.broken("read", err, "raise FencedOptions.MaxSize")
		}
		if err = f.object.explain(ctx, read, err); !errors.Is(err, errAbsent) {
			return nil, err
		}
		seen = p.Nonce // it was replaced, and its data deleted, since we read it
	}
	return nil, &storeError{where: f.object, what: "read", err: errors.New("the object changes faster than it can be read"), todo: "write it less often"}
}

// dataKey is a key that nobody has used.
func (f *FencedObject) dataKey() string { return f.object.key + dataMark + rand.Text() }

// ownsData tells whether a key is one that dataKey makes.
func (f *FencedObject) ownsData(key string) bool {
	rest, ok := strings.CutPrefix(key, f.object.key+dataMark)
	return ok && rest != "" && !strings.Contains(rest, "/")
}
