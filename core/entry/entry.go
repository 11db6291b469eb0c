// Package entry holds the one record that an election consists of, and its
// JSON form.
//
// A decider stores a RaceEntry and nothing else. Everything that a candidate
// may conclude about another one, it concludes from this record and from the
// answer that brought it.
package entry

import (
	"bytes"
	"slices"
	"time"
)

// ElectionNumber counts the writes to an entry: it names a version. The first
// write has number 0, and every later one, renewals and resignations included,
// is one higher.
type ElectionNumber int64

// NoElections is the number of an entry that was never written.
const NoElections ElectionNumber = -1

// MaxCheckpoint is the largest Checkpoint, in bytes, that a leader may store.
// The checkpoint is written again with every renewal, so it is kept small.
const MaxCheckpoint = 4 << 10

// MaxTermLength is the longest term that an entry may grant. It is far beyond
// any use and keeps every sum of durations from overflowing.
const MaxTermLength = 10 * 365 * 24 * time.Hour

// LeaderToken is what a decider needs to overwrite exactly the version that
// the token came with. It is opaque to everybody else.
type LeaderToken interface {
	// CommitTS is when the store committed that version, on the store's own
	// clock; zero where the store does not say. It is for people to read and
	// proves nothing.
	CommitTS() time.Time
}

// RaceEntry is one version of an election's record.
type RaceEntry struct {
	// LeaderID is who leads; "" means vacant: nobody does (the last leader resigned).
	LeaderID string
	// HostPort is where the leader can be reached, if it said so.
	HostPort []string
	// TermExpiry is the end of the term: the writer's wall clock plus
	// TermLength, or SentBy plus TermLength, whichever is later.
	TermExpiry time.Time
	// TermLength is the length of the term that this write grants. Others
	// wait out this length, never the one in their own settings.
	TermLength time.Duration
	// SentBy is an upper bound: the store's clock had not passed it when the
	// write was sent. Zero where the writer did not know the store's time.
	SentBy time.Time
	// ElectionNumber is one more than that of the version this one replaced.
	ElectionNumber ElectionNumber
	// FencingToken is one more for every reign, and constant over a reign's
	// renewals and its resignation. Hand it to the resources that a leader
	// writes to, so that they can refuse a leader of the past.
	FencingToken int64
	// Nonce is drawn afresh for every attempt to write, so that a candidate
	// that never had an answer can tell its own write from another's.
	Nonce string
	// ConnectionParams is for those who connect to the leader.
	ConnectionParams []byte
	// Checkpoint is a small state that one leader leaves for the next. It
	// survives resignation. At most MaxCheckpoint bytes.
	Checkpoint []byte
	// Held marks a finished reign that keeps the election closed until its
	// term is over, because it promised not to be followed sooner (MinHold).
	Held bool
	// Token identifies this version to the decider that read or wrote it. It
	// is never stored.
	Token LeaderToken
}

// Vacant tells whether nobody leads by this entry: it was resigned, or never
// written.
func (e RaceEntry) Vacant() bool { return e.LeaderID == "" }

// Absent tells whether nothing is stored at all.
func (e RaceEntry) Absent() bool { return e.ElectionNumber == NoElections }

// Clone returns a copy that shares no slice with e. The token is shared.
func (e RaceEntry) Clone() RaceEntry {
	e.HostPort = slices.Clone(e.HostPort)
	e.ConnectionParams = bytes.Clone(e.ConnectionParams)
	e.Checkpoint = bytes.Clone(e.Checkpoint)
	return e
}
