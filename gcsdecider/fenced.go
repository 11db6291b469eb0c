package gcsdecider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"cloud.google.com/go/storage"

	"github.com/cloudelect/cloudelect/core"
)

// FencedOptions are what may be chosen about a FencedObject. Nil, or the zero
// value, is right for most.
type FencedOptions struct {
	// Options say how the object is stored. MinWriteInterval, ProbeFirst and VimeoForm
	// have no meaning here. Metadata is stored beside the package's own.
	Options
	// ContentType of the data; "": application/octet-stream.
	ContentType string
	// MaxSize bounds the data, in bytes, in both directions; 0: 64 MiB. The data
	// is held in memory.
	MaxSize int64
	// Adopt lets the first write replace an object that was not written by a
	// FencedObject, as if it had the lowest token. Without it such an object is an
	// error.
	Adopt bool
}

// FencedObject is content that leaders of an election write one after the other,
// and that a leader of the past cannot overwrite, however long it was frozen and
// whatever its clock says: the object's metadata carries the highest fencing token
// that wrote it. Everybody who writes the object must write through a
// FencedObject; anybody may read it.
//
// A write looks at the metadata and then stores data and token in one request, if
// the object's generation is still the one that was looked at. Generations
// never come twice, so that a race has one winner.
//
// Cloud Storage accepts one write per second to one object name. It is safe for
// concurrent use. Get one from NewFencedObject.
type FencedObject struct {
	d       *Decider // for its ways to ask and to explain
	opts    FencedOptions
	invalid error
}

// Fenced is what a FencedObject holds.
type Fenced struct {
	Data  []byte
	Token int64 // the fencing token of the leader that wrote it
}

const (
	defaultSize = 64 << 20
	fencedReads = 8 // of an object that changes while it is being read
)

// NewFencedObject returns the fenced object gs://bucket/object, which need not
// exist. Options may be nil. It sends nothing; a parameter that cannot be right is
// reported by each method, as an error that Is core.ErrBroken and
// core.ErrInvalidConfig. Do not give it an election's own object.
func NewFencedObject(client *storage.Client, bucket, object string, opts *FencedOptions) *FencedObject {
	f := &FencedObject{}
	if opts != nil {
		f.opts = *opts
	}
	if f.opts.MaxSize == 0 {
		f.opts.MaxSize = defaultSize
	}
	f.d = NewDecider(client, bucket, object, &f.opts.Options)
	f.invalid = f.d.invalid
	if f.invalid == nil && f.opts.MaxSize < 0 {
		f.invalid = f.d.misuse("set up", fmt.Errorf("FencedOptions.MaxSize %d is negative", f.opts.MaxSize))
	}
	return f
}

// String is the object's address, gs://bucket/object.
func (f *FencedObject) String() string { return f.d.String() }

// Read returns the content and the token that wrote it. Where nothing was written
// yet the error Is fs.ErrNotExist. An error that Is core.ErrBroken says that a person
// must act: denied, no bucket, or an object that no FencedObject wrote.
func (f *FencedObject) Read(ctx context.Context) (*Fenced, error) {
	if f.invalid != nil {
		return nil, f.invalid
	}
	for range fencedReads {
		s, err := f.look(ctx)
		if err == nil && s.foreign {
			err = f.foreign()
		}
		if err != nil {
			return nil, err
		}
		if s.generation == 0 {
			return nil, &storeError{where: f.String(), what: "read", err: fs.ErrNotExist, todo: "nothing was written yet"}
		}
		data, err := f.data(ctx, s.generation)
		if err == nil {
			return &Fenced{Data: data, Token: s.token}, nil
		}
		if !errors.Is(err, errAbsent) {
			return nil, err
		}
	}
	return nil, &storeError{where: f.String(), what: "read", err: errors.New("the object changes faster than it can be read"), todo: "write it less often"}
}

// data reads one generation; errAbsent when it was replaced.
func (f *FencedObject) data(ctx context.Context, generation int64) ([]byte, error) {
	r, err := f.d.handle().Generation(generation).Retryer(readRetries()...).NewReader(ctx)
	if err != nil {
		return nil, f.explain(ctx, read, err)
	}
	defer r.Close()
	if r.Attrs.Generation != generation { // from whoever does not heed the parameter
		return nil, errAbsent
	}
	data, err := io.ReadAll(io.LimitReader(r, f.opts.MaxSize+1))
	switch {
	case err != nil:
		return nil, f.explain(ctx, read, err)
	case int64(len(data)) > f.opts.MaxSize:
		return nil, f.broken("read", fmt.Errorf("it has more than %d bytes", f.opts.MaxSize), "raise FencedOptions.MaxSize")
	}
	return data, nil
}

// explain is the decider's, but for a context that has ended: the client may have
// returned its cause, which can be anything, an answer of another store included.
func (f *FencedObject) explain(ctx context.Context, op operation, err error) error {
	if ctx.Err() != nil {
		return &storeError{where: f.String(), what: op.String(), err: fmt.Errorf("%w (%v)", ctx.Err(), context.Cause(ctx)), todo: "no answer before the context ended"}
	}
	return f.d.explain(ctx, op, err)
}

func (f *FencedObject) foreign() error {
	return f.broken("read", errors.New("the object carries no fencing token"),
		"it was not written by a FencedObject: choose another name, or set FencedOptions.Adopt to replace it")
}

func (f *FencedObject) broken(what string, err error, todo string) error {
	return &storeError{where: f.String(), what: what, err: err, todo: todo, is: []error{core.ErrBroken}}
}
