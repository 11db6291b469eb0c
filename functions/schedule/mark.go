package schedule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// markVersion is the major version of the checkpoint that this package writes.
const markVersion = 1

// MaxState is the largest state of the work's own, in bytes, that is kept beside
// the slot.
const MaxState = 2560

// state is how far a slot got.
type state string

const (
	stateBegun  state = "begun"  // Skip: taken, and nobody may take it again
	stateFailed state = "failed" // Skip: the work returned an error
	stateDone   state = "done"
)

// mark is the checkpoint: the last slot, and the work's own state. A person
// can read it with "elect status".
type mark struct {
	Version int        `json:"schedule"`
	Slot    *time.Time `json:"slot,omitempty"`
	Name    string     `json:"name,omitempty"`
	State   state      `json:"state,omitempty"`
	// Run is drawn for every attempt to take a slot, so that the one who
	// marked it as begun knows its own mark.
	Run  string `json:"run,omitempty"`
	User []byte `json:"user,omitempty"`
}

// readMark understands a checkpoint; none at all means that no slot was done.
// What it does not understand is an error, never "not done".
func readMark(b []byte) (mark, error) {
	if len(b) == 0 {
		return mark{Version: markVersion}, nil
	}
	var m mark
	d := json.NewDecoder(bytes.NewReader(b))
	switch err := d.Decode(&m); {
	case err != nil || m.Version < 1 || d.More():
		return mark{}, fmt.Errorf("%w: %q: this election is used by another program too, or was: give the schedule one of its own", ErrCheckpoint, clip(string(b)))
	case m.Version > markVersion:
		return mark{}, fmt.Errorf("%w: its version %d is newer than %d: update this program", ErrCheckpoint, m.Version, markVersion)
	}
	switch m.State {
	case stateBegun, stateFailed, stateDone:
		if m.Slot == nil && m.Name == "" {
			return mark{}, fmt.Errorf("%w: it has a state and no slot: %q", ErrCheckpoint, clip(string(b)))
		}
	case "":
		if m.Slot != nil || m.Name != "" {
			return mark{}, fmt.Errorf("%w: it has a slot and no state: %q", ErrCheckpoint, clip(string(b)))
		}
	default:
		return mark{}, fmt.Errorf("%w: its state %q is unknown: update this program", ErrCheckpoint, clip(string(m.State)))
	}
	return m, nil
}

// encode is the checkpoint to store.
func (m mark) encode() ([]byte, error) {
	m.Version = markVersion
	b, err := json.Marshal(m)
	if err == nil && len(b) > entry.MaxCheckpoint {
		err = fmt.Errorf("%w: slot and state take %d bytes, more than %d", ErrCheckpoint, len(b), entry.MaxCheckpoint)
	}
	return b, err
}

// noRun is as long as what newRunID returns.
const noRun = "000000000000"

// with is the mark of another slot, with the same user's state.
func (m mark) with(s Slot, st state, run string) mark {
	next := mark{Name: s.name, State: st, Run: run, User: m.User}
	if s.name == "" {
		at := s.at
		next.Slot = &at
	}
	return next
}

// slot is the slot that the mark is about; the zero Slot if there was none.
func (m mark) slot() Slot {
	switch {
	case m.Name != "":
		return Named(m.Name)
	case m.Slot != nil:
		return At(*m.Slot)
	}
	return Slot{}
}
