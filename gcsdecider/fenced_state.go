package gcsdecider

import (
	"context"
	"errors"
	"hash/crc32"
	"maps"
	"strconv"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
)

// The metadata of a fenced object.
const (
	tokenMark    = "cloudelect-fencing-token"
	nonceMark    = "cloudelect-nonce"    // fresh for every write
	replacedMark = "cloudelect-replaced" // the nonce of the version before
)

// fencedState is what a fenced object is at the moment.
type fencedState struct {
	generation int64 // 0: there is none
	token      int64
	nonce      string
	replaced   string
	foreign    bool // it carries no token
}

func readRetries() []storage.RetryOption {
	return []storage.RetryOption{
		storage.WithPolicy(storage.RetryIdempotent), storage.WithMaxAttempts(readAttempts),
		storage.WithBackoff(gax.Backoff{Initial: 100 * time.Millisecond, Max: time.Second, Multiplier: 2}),
	}
}

// look asks for the state.
func (f *FencedObject) look(ctx context.Context) (fencedState, error) {
	if ctx.Err() != nil {
		return fencedState{}, f.d.notSent(ctx, read)
	}
	attrs, err := f.d.handle().Retryer(readRetries()...).Attrs(ctx)
	if err != nil {
		if err = f.explain(ctx, read, err); errors.Is(err, errAbsent) {
			return fencedState{}, nil
		}
		return fencedState{}, err
	}
	if attrs.Generation <= 0 {
		return fencedState{}, f.explain(ctx, read, errNoGeneration)
	}
	s := fencedState{generation: attrs.Generation, nonce: attrs.Metadata[nonceMark], replaced: attrs.Metadata[replacedMark]}
	s.token, err = strconv.ParseInt(attrs.Metadata[tokenMark], 10, 64)
	if err != nil || s.token < 0 || s.nonce == "" {
		s = fencedState{generation: s.generation, foreign: true}
	}
	return s, nil
}

// put stores data with its token in the place of base, in one request. The
// error is in one of the classes of core.RaceDecider's WriteEntry.
func (f *FencedObject) put(ctx context.Context, base fencedState, token int64, nonce string, data []byte) error {
	op, cond := overwrite, storage.Conditions{GenerationMatch: base.generation}
	if base.generation == 0 {
		op, cond = create, storage.Conditions{DoesNotExist: true}
	}
	if ctx.Err() != nil {
		return f.d.notSent(ctx, op)
	}
	writing, cancel := context.WithCancel(ctx)
	defer cancel()
	w := f.d.handle().If(cond).Retryer(storage.WithPolicy(storage.RetryNever)).NewWriter(writing)
	w.ChunkSize = 0 // one request
	w.ContentType = f.opts.ContentType
	if w.ContentType == "" {
		w.ContentType = "application/octet-stream"
	}
	w.CacheControl = "no-store"
	w.KMSKeyName, w.StorageClass = f.opts.KMSKeyName, f.opts.StorageClass
	w.Metadata = maps.Clone(f.opts.Metadata)
	if w.Metadata == nil {
		w.Metadata = map[string]string{}
	}
	w.Metadata[tokenMark], w.Metadata[nonceMark] = strconv.FormatInt(token, 10), nonce
	if base.nonce != "" {
		w.Metadata[replacedMark] = base.nonce
	}
	w.SendCRC32C, w.CRC32C = true, crc32.Checksum(data, castagnoli)
	_, err := w.Write(data)
	if closed := w.Close(); closed != nil { // it knows best why the request ended
		err = closed
	}
	if err != nil {
		return f.explain(ctx, op, err)
	}
	return nil
}
