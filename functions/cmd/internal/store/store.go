// Package store is what the deployed programs ask of a store: an election, and a
// record of who did which slot, which a leader of the past cannot write. The
// packages below it are one for each store, so that a program carries one SDK.
package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
)

// Record says who did which slot, under which fencing token, and when by that one's clock.
type Record struct {
	Slot         string    `json:"slot"`
	LeaderID     string    `json:"leader_id"`
	FencingToken int64     `json:"fencing_token"`
	DoneAt       time.Time `json:"done_at"`
}

// Store is an open store. Close it in the end.
type Store struct {
	Decider core.RaceDecider
	// Write stores r, unless a later reign than l has written, or leads, already:
	// then the error Is core.ErrLeadershipLost and nothing was stored. False
	// without an error: the slot has another record, which was left as it is; true
	// also if r itself was there. It is one attempt, and waits as long as ctx: see Put.
	Write func(ctx context.Context, l *core.Leadership, r Record) (stored bool, err error)
	Close func() error
}

// Open opens the store that the variable STORE names. What a person has to set up, but
// for a variable that is wrong, Is core.ErrBroken: credentials most likely.
type Open func(ctx context.Context, r *settings.Reader) (*Store, error)

// Variable names the election: the same URL as elect's --store, without options.
const Variable = "STORE"

// kept bounds a journal: one object holds it, and is written as a whole.
const kept = 200

// Append adds a line to a journal, unless it has one for that slot, and drops
// the oldest. Next is nil if nothing is to be written: the slot has a record, which
// is r itself if stored. A journal that cannot be read is an error, and not
// written over.
func Append(journal []byte, r Record) (next []byte, stored bool, err error) {
	records, err := Parse(journal)
	if err != nil {
		return nil, false, err
	}
	for _, old := range records {
		if old.Slot == r.Slot {
			return nil, old.same(r), nil
		}
	}
	records = append(records, r)
	records = records[max(0, len(records)-kept):]
	var out bytes.Buffer
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			return nil, false, fmt.Errorf("store: write a record: %w", err)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), false, nil
}

// Parse reads a journal, one record in JSON per line.
func Parse(journal []byte) ([]Record, error) {
	var records []Record
	for line := range bytes.Lines(journal) {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, Broken("store: line %d of the journal is no record: move the object away, or mend it: %w", len(records)+1, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// JournalSuffix is what follows the election's name in the name of its journal.
const JournalSuffix = ".journal"
