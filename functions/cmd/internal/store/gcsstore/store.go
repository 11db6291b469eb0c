// Package gcsstore keeps an election, and a journal of the slots that were done, in
// two objects of a Cloud Storage bucket.
package gcsstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
	"github.com/cloudelect/cloudelect/gcsdecider"
)

// Open opens gs://BUCKET/OBJECT. It sends nothing but what getting credentials takes.
func Open(ctx context.Context, r *settings.Reader) (*store.Store, error) {
	bucket, object := r.Location(store.Variable, "gs", "BUCKET/OBJECT")
	if err := r.Err(); err != nil {
		return nil, err
	}
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		return nil, store.Broken("gcsstore: no client for Cloud Storage: %w: let the job run as a service account, or set GOOGLE_APPLICATION_CREDENTIALS"+
			" (for an emulator STORAGE_EMULATOR_HOST)", err)
	}
	j := &journal{gcsdecider.NewFencedObject(client, bucket, object+store.JournalSuffix, &gcsdecider.FencedOptions{ContentType: "application/jsonl"})}
	return &store.Store{Decider: gcsdecider.NewDecider(client, bucket, object, nil), Write: j.write, Close: client.Close}, nil
}

type journal struct{ object *gcsdecider.FencedObject }

// write appends r. A reign that has ended, by any clock, does not get to the write;
// one that does not know it yet is refused by the token in the object.
func (j *journal) write(ctx context.Context, l *core.Leadership, r store.Record) (bool, error) {
	content, err := j.object.Read(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = new(gcsdecider.Fenced), nil
	}
	if err != nil {
		return false, fmt.Errorf("gcsstore: the record of slot %s was not stored: %w", r.Slot, err)
	}
	next, stored, err := store.Append(content.Data, r)
	if err != nil || next == nil {
		return stored, err
	}
	if err := l.Check(); err != nil {
		return false, fmt.Errorf("gcsstore: the record of slot %s was not stored: %w", r.Slot, err)
	}
	if err := j.object.Write(ctx, l.FencingToken(), next); errors.Is(err, gcsdecider.ErrStaleToken) {
		return false, fmt.Errorf("gcsstore: the record of slot %s was not stored: %w: %w", r.Slot, core.ErrLeadershipLost, err)
	} else if err != nil {
		return false, fmt.Errorf("gcsstore: the record of slot %s may not be stored: %w", r.Slot, err)
	}
	return true, nil
}
