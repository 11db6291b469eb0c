package gcsdecider

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"

	"cloud.google.com/go/storage"

	"github.com/cloudelect/cloudelect/core/entry"
)

// WriteEntry stores e in one request, without a retry, if the generation that
// e.Token names is still the current one. See core.RaceDecider for the four
// outcomes, and the package comment for which answer means which. A lost race is a
// *core.LostRaceError with no Current: Cloud Storage does not say what it has.
//
// An entry that is not valid or too large, and a token that is not this
// package's, are refused before anything is sent: the error Is core.ErrBroken and
// core.ErrInvalidConfig.
func (d *Decider) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if d.invalid != nil {
		return nil, d.invalid
	}
	if e == nil {
		return nil, d.misuse("write", errors.New("there is no entry; pass one"))
	}
	base, err := tokenOf(e)
	if err != nil {
		return nil, d.misuse("write", err)
	}
	body, err := d.encode(e)
	if err == nil && len(body) > maxSize {
		err = fmt.Errorf("%w: %d bytes, more than %d; shorten HostPort or ConnectionParams", entry.ErrBad, len(body), maxSize)
	}
	if err != nil {
		return nil, d.misuse("write", err)
	}
	op, cond := overwrite, storage.Conditions{GenerationMatch: base.generation}
	if base.generation == 0 { // GenerationMatch: 0 would be no condition at all
		op, cond = create, storage.Conditions{DoesNotExist: true}
	}
	if ctx.Err() != nil {
		return nil, d.notSent(ctx, op)
	}
	if err := d.probed(ctx); err != nil {
		return nil, err
	}

	ctx, note := withNote(ctx)
	attrs, err := d.put(ctx, cond, body)
	if err != nil {
		return nil, d.explain(ctx, op, err)
	}
	t := &Token{generation: attrs.Generation, commit: attrs.Updated, date: note.get()}
	if t.commit.IsZero() {
		t.commit = attrs.Created
	}
	return t, nil
}

// encode is e's stored form.
func (d *Decider) encode(e *entry.RaceEntry) ([]byte, error) {
	if d.opts.VimeoForm {
		return encodeVimeo(e)
	}
	return entry.Encode(e)
}

// contentType is that of the stored form.
func (d *Decider) contentType() string {
	if d.opts.VimeoForm {
		return "application/x-protobuf"
	}
	return "application/json"
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// put uploads body in a single request.
func (d *Decider) put(ctx context.Context, cond storage.Conditions, body []byte) (*storage.ObjectAttrs, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A retry after a lost answer would turn our own success into a lost race.
	w := d.handle().If(cond).Retryer(storage.WithPolicy(storage.RetryNever)).NewWriter(ctx)
	w.ChunkSize = 0 // one request; the default would also set 16 MiB aside
	w.ContentType = d.contentType()
	w.CacheControl = "no-store"
	w.KMSKeyName = d.opts.KMSKeyName
	w.StorageClass = d.opts.StorageClass
	w.Metadata = maps.Clone(d.opts.Metadata)
	// Sent ahead, the checksum lets the service refuse a damaged body. The one
	// the client would compute is compared after the damage was stored.
	w.SendCRC32C, w.CRC32C = true, crc32.Checksum(body, castagnoli)

	_, err := w.Write(body)
	// Close waits for the request to end and knows best why it did.
	if closed := w.Close(); closed != nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	if attrs := w.Attrs(); attrs != nil && attrs.Generation > 0 {
		return attrs, nil
	}
	return nil, errNoGeneration
}
