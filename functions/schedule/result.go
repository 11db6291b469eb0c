package schedule

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoSlot: the trigger does not say which slot it is for.
	ErrNoSlot = errors.New("schedule: no slot")
	// ErrCheckpoint: what the election's checkpoint holds is not a schedule's, or
	// is a newer program's. Nothing is run.
	ErrCheckpoint = errors.New("schedule: the checkpoint cannot be understood")
	// ErrFutureSlot: the slot lies too far ahead of the store's clock, or of this
	// host's where the store tells no time (Config.MaxAhead). It was not run: the
	// slots before it would never run any more.
	ErrFutureSlot = errors.New("schedule: the slot lies in the future")
	// ErrNoDate: Every needs the store's clock, and the store does not tell it.
	ErrNoDate = errors.New("schedule: the store tells no time")
	// ErrNotRecorded: the work is done, but the store did not confirm that the
	// slot is. With Retry its next trigger may run it again.
	ErrNotRecorded = errors.New("schedule: the work is done, but the slot may not be recorded as done")
)

// Outcome is what became of a trigger.
type Outcome int

const (
	// Unknown: nothing was run, and the error says why: the store could not be
	// asked, or the context ended first.
	Unknown Outcome = iota
	// Ran: the work ran and returned nil.
	Ran
	// Failed: the work ran and returned an error, or panicked.
	Failed
	// Running: somebody leads now. It is at work on this slot or on another, or
	// was killed at it. Or nobody is known to (Result.Leader is empty): somebody came
	// first and has left again, or the entry was deleted, maybe under a leader.
	// Nothing was run; try again after Result.RetryAfter.
	Running
	// Done: the slot was done before. Nothing was run.
	Done
	// Begun: with Skip, the slot was begun before and is not known to be done:
	// it still runs, has failed, or was killed. Nothing was run, nor will be.
	Begun
	// Stale: a later slot was begun or done before. Nothing was run, nor will be.
	Stale
)

var outcomes = [...]string{"unknown", "ran", "failed", "running", "done", "begun", "stale"}

// String returns the outcome's name, in lower case.
func (o Outcome) String() string {
	if o < 0 || int(o) >= len(outcomes) {
		return fmt.Sprintf("Outcome(%d)", int(o))
	}
	return outcomes[o]
}

// MarshalText makes an outcome readable in JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Settled tells whether the slot needs no further trigger: it ran, or never
// will. After the others, triggering again can help.
func (o Outcome) Settled() bool { return o == Ran || o == Done || o == Begun || o == Stale }

// Result tells what a trigger came to.
type Result struct {
	Outcome Outcome
	// Slot is which slot it was for; for Every it is known once the store has
	// answered.
	Slot Slot
	// Last is the slot that the election remembered, if any and if it was read.
	Last Slot
	// Leader is who leads, and RetryAfter is when a trigger for this slot can
	// be of use at the earliest, if that one was killed. For Running only.
	Leader     string
	RetryAfter time.Duration
}

// String is a line for a log.
func (r Result) String() string {
	switch r.Outcome {
	case Ran, Failed:
		return fmt.Sprintf("slot %v %v", r.Slot, r.Outcome)
	case Running:
		if r.Leader == "" {
			return fmt.Sprintf("slot %v: nobody is known to lead, but it is not free yet: try again in %v", r.Slot, r.RetryAfter.Round(time.Millisecond))
		}
		return fmt.Sprintf("slot %v: %q leads, try again in %v", r.Slot, clip(r.Leader), r.RetryAfter.Round(time.Millisecond))
	case Done:
		return fmt.Sprintf("slot %v was done before", r.Slot)
	case Begun:
		return fmt.Sprintf("slot %v was begun before, and is not known to be done: it still runs, has failed, or was killed, and is not run again", r.Slot)
	case Stale:
		return fmt.Sprintf("slot %v is stale, and is not run any more: the later slot %v came first", r.Slot, r.Last)
	}
	return fmt.Sprintf("slot %v: nothing was run", r.Slot)
}

// Time is the slot as a time; zero for one that has a name instead, and for
// Every.
func (s Slot) Time() time.Time { return s.at }

// Name is the name of a slot that has one.
func (s Slot) Name() string { return s.name }
