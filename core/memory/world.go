package memory

import (
	"bytes"
	"crypto/rand"
	"errors"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// This file is what a test does to its store: everything that in production
// other people, other processes and bad luck do.

var (
	errAnswerLost = errors.New("memory: connection reset before the answer came")
	errFailed     = errors.New("memory: 503 service unavailable")
)

// Lead makes id the leader for term, as another process would that won just
// now: a valid entry on top of whatever is stored, election number and fencing
// token one higher, TermExpiry by the store's clock (by the system's without
// SetClock). The empty id resigns, which keeps the fencing token. A term that is not positive counts as 15 s.
// It returns what it stored, with its token.
func (d *Decider) Lead(id string, term time.Duration) entry.RaceEntry {
	r := d.rec
	r.mu.Lock()
	defer r.mu.Unlock()
	if term <= 0 {
		term = 15 * time.Second
	}
	e := entry.RaceEntry{LeaderID: id, TermLength: term, Nonce: rand.Text(), FencingToken: 1}
	now := time.Now()
	if r.clock != nil {
		now = r.clock.Now()
		e.SentBy = now
		e.FencingToken = max(1, now.Unix())
	}
	e.TermExpiry = now.Add(term)
	if r.present && r.bad() == nil {
		e.ElectionNumber = r.current.ElectionNumber + 1
		e.FencingToken = r.current.FencingToken
		if id != "" { // a resignation keeps the token of the reign that it ends
			e.FencingToken++
		}
		e.Checkpoint = r.current.Checkpoint
	}
	r.store(&e)
	return *r.read()
}

// Plant stores e as it is, whatever was there before. Its token is ignored. An
// entry that Validate refuses is stored too, and read as core.ErrBadEntry.
func (d *Decider) Plant(e entry.RaceEntry) {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	d.rec.store(&e)
	d.rec.planted = &planted{bad: e.Validate()}
}

// PlantRaw stores bytes instead of an entry. If entry.Decode understands them
// they are that entry; if not, reads are core.ErrBadEntry with a usable token.
func (d *Decider) PlantRaw(b []byte) {
	e, err := entry.Decode(b)
	if err != nil {
		e = &entry.RaceEntry{}
	}
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	d.rec.store(e)
	d.rec.planted = &planted{err, bytes.Clone(b)}
}

// Delete removes the entry, which nothing of this project ever does to a store.
func (d *Decider) Delete() {
	r := d.rec
	r.mu.Lock()
	defer r.mu.Unlock()
	r.present, r.current, r.planted, r.commit = false, entry.RaceEntry{}, nil, time.Time{}
}

// Stored returns what is stored, without a request being counted. It is false
// when nothing is, or nothing that can be believed.
func (d *Decider) Stored() (entry.RaceEntry, bool) {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	if !d.rec.present || d.rec.bad() != nil {
		return entry.RaceEntry{}, false
	}
	return *d.rec.read(), true
}

// Raw returns the bytes that PlantRaw stored, or nil after any other write.
func (d *Decider) Raw() []byte {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	if d.rec.planted == nil {
		return nil
	}
	return bytes.Clone(d.rec.planted.raw)
}

// Requests returns how many reads and writes all handles were asked for,
// failed ones included.
func (d *Decider) Requests() (reads, writes int) {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	return d.rec.reads, d.rec.writes
}

// FailNext makes this handle's next n requests, reads and writes alike, fail
// with err and without effect. A nil err is a 503. It replaces what an earlier
// FailNext left; n = 0 ends it. For a write to be broken, err has to be
// core.ErrBroken or wrap it.
func (d *Decider) FailNext(n int, err error) {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	if err == nil {
		err = errFailed
	}
	d.failures, d.failure = n, err
}

// LoseNext makes this handle's next n writes that are stored return an unknown
// error in place of their token: applied, but the answer never came.
func (d *Decider) LoseNext(n int) {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	d.losses = n
}

// OmitCurrent makes this handle's lost races not tell what is stored, as Cloud
// Storage's do not.
func (d *Decider) OmitCurrent(omit bool) {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	d.omitCurrent = omit
}

// SetClock gives the store a clock: from now on every token carries its Date in
// whole seconds and, for what is written from now on, CommitTS. A nil clock, as
// at the start, tells no time.
func (d *Decider) SetClock(c clocks.Clock) {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	d.rec.clock = c
}

// SetLimit makes a write fail like a 429 (unknown, nothing stored) when it
// comes sooner than interval after the last one that was stored, by the store's
// clock; without SetClock there is no limit. What Lead, Plant and Delete do does
// not count.
func (d *Decider) SetLimit(interval time.Duration) {
	d.rec.mu.Lock()
	defer d.rec.mu.Unlock()
	d.rec.limit = interval
}
