package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cloudelect/cloudelect/core"
)

// Run is a slot that is being worked on by this process. It is safe for
// concurrent use.
type Run struct {
	config     Config
	leadership *core.Leadership
	end        context.CancelFunc
	ctx        context.Context
	release    context.CancelFunc
	slot       Slot
	last       mark // before this run
	taken      bool // Skip: the slot is marked as begun, or may be

	mu       sync.Mutex
	now      mark // what the checkpoint holds, but for changed
	changed  bool // now.User is newer than what is stored
	finished bool
}

// Slot is the slot to work on.
func (r *Run) Slot() Slot { return r.slot }

// Last is the slot before this one that the election remembers, the zero Slot
// if there was none, and whether it was done. It is this very slot when
// the work is a second try. Work that covers the time since the last run covers
// slots that were missed, too.
func (r *Run) Last() (slot Slot, done bool) { return r.last.slot(), r.last.State == stateDone }

// Context ends with the context given to Begin, or with the leadership.
func (r *Run) Context() context.Context { return r.ctx }

// Leadership is what the run rests on: its Check and FencingToken are for what
// nobody may do twice.
func (r *Run) Leadership() *core.Leadership { return r.leadership }

// State is what the work of earlier runs, or of this one, has left beside
// the slot; nil if nothing.
func (r *Run) State() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.now.User)
}

// SetState leaves b, at most MaxState bytes, for later runs. It is stored by the
// write that finishes this run, whether the work failed or not; if the process is
// killed, it is not.
func (r *Run) SetState(b []byte) error {
	if len(b) > MaxState {
		return fmt.Errorf("%w: the state has %d bytes, more than %d", core.ErrInvalidConfig, len(b), MaxState)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.now
	next.User = slices.Clone(b)
	// The longest mark that can follow has to fit, too.
	if _, err := next.with(r.slot, stateFailed, noRun).encode(); err != nil {
		return err
	}
	r.now, r.changed = next, true
	return nil
}

// SaveState is SetState that stores b now, with a renewal. The error is like
// that of core.Leadership.SaveCheckpoint.
func (r *Run) SaveState(ctx context.Context, b []byte) error {
	if err := contextFault(ctx); err != nil {
		return err
	}
	if err := r.SetState(b); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.save(ctx)
}

// save stores r.now. r.mu is held.
func (r *Run) save(ctx context.Context) error {
	b, err := r.now.encode()
	if err == nil {
		err = r.leadership.SaveCheckpoint(ctx, b)
	}
	if err == nil {
		r.changed = false
	}
	return err
}

// take looks once more at what was won, which need not be what the gate has
// seen, and with Skip makes sure that the slot is marked before anything is done.
func (r *Run) take(ctx context.Context, run string) (Outcome, error) {
	won, err := readMark(r.leadership.Checkpoint())
	if err != nil {
		return Unknown, err
	}
	r.now = won
	if r.config.OnFailure == Skip && won.Run == run && won.State == stateBegun {
		r.taken = true // by the win itself
		return Unknown, nil
	}
	if outcome := decide(won, r.slot, r.config.OnFailure); outcome != Unknown {
		return outcome, nil
	}
	r.last = won
	if r.config.OnFailure == Retry {
		return Unknown, nil
	}
	r.now, r.taken = won.with(r.slot, stateBegun, run), true
	if err := r.save(ctx); err != nil {
		return Unknown, fmt.Errorf("schedule: the slot %v could not be marked as begun, so it was not: %w", r.slot, err)
	}
	return Unknown, nil
}

// giveBack resigns from a run that was not begun, and makes the slot free again
// where it was marked. What fails is only waited for by the next leader.
func (r *Run) giveBack(ctx context.Context) {
	defer r.end()
	ctx, cancel := r.config.leaving(ctx)
	defer cancel()
	if b, err := r.last.encode(); r.taken && err == nil {
		_ = r.leadership.ResignWith(ctx, b)
		return
	}
	_ = r.leadership.Resign(ctx)
}

// Work is what is done once per slot. ctx ends when the leadership does: work
// that goes on after that may meet the next leader's.
type Work func(ctx context.Context, r *Run) error

// errNoReturn is how work ended that panicked, or ended its goroutine.
var errNoReturn = errors.New("schedule: the work did not return")

// Run takes the slot, works, and records it: see Begin for the results when
// it was not this caller's turn, and Run.Finish for those when it was. A
// panic of the work counts as an error, and goes on.
//
// Run waits for work that ignores its context, and holds the slot meanwhile.
func (c Config) Run(ctx context.Context, slot Slot, work Work) (Result, error) {
	if work == nil {
		return Result{Slot: slot}, fmt.Errorf("%w: there is no work to run", core.ErrInvalidConfig)
	}
	r, res, err := c.Begin(ctx, slot)
	if r == nil {
		return res, err
	}
	returned := false
	defer func() {
		if !returned {
			_, _ = r.Finish(ctx, errNoReturn)
		}
	}()
	err = work(r.Context(), r)
	returned = true
	return r.Finish(ctx, err)
}
