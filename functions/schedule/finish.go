package schedule

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudelect/cloudelect/core"
)

// Finish ends the run: call it once, after the work has stopped. err is what the
// work returned; nil makes the slot done. The slot and the work's state
// are stored by the write that resigns.
//
// The Outcome is Ran or Failed. The error is the work's, joined with the
// reason if the leadership was lost before. If the work returned nil and it is not
// certain that the slot is recorded, the Outcome is Ran and the error Is
// ErrNotRecorded. A failed resignation alone is no error here: it makes the
// next run wait for the end of the term.
//
// Of ctx only the values are used: that the work's time is over is no reason not to
// record what it did, and neither is a nil ctx. Finish takes as long as the store leaves it without an answer,
// core.Config.ResignWithin or the end of the term at most.
func (r *Run) Finish(ctx context.Context, err error) (Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	res := Result{Outcome: Ran, Slot: r.slot, Last: r.last.slot()}
	if err != nil {
		res.Outcome = Failed
	}
	if r.finished {
		return res, errors.Join(err, errors.New("schedule: Finish was called before"))
	}
	r.finished = true
	over := r.leadership.Check()
	if !errors.Is(over, core.ErrLeadershipLost) && !errors.Is(over, core.ErrTermExpired) {
		over = nil
	}
	r.release()
	defer r.end()
	ctx, cancel := r.config.leaving(ctx)
	defer cancel()
	stored := r.resign(ctx, err)
	switch {
	case err == nil && stored != nil:
		err = fmt.Errorf("%w: %w", ErrNotRecorded, stored)
	case err == nil:
		return res, nil // even if it was late: nobody came in between
	}
	if over != nil && !errors.Is(err, over) {
		err = errors.Join(err, over)
	}
	return res, err
}

// resign stores how the work ended. r.mu is held.
func (r *Run) resign(ctx context.Context, failed error) error {
	last := r.now
	switch {
	case failed == nil:
		last = r.now.with(r.slot, stateDone, "")
	case r.config.OnFailure == Skip:
		last = r.now.with(r.slot, stateFailed, "")
	case !r.changed:
		return r.leadership.Resign(ctx)
	}
	b, err := last.encode()
	if err != nil { // cannot be: SetState and the gate have tried
		return errors.Join(err, r.leadership.Resign(ctx))
	}
	return r.leadership.ResignWith(ctx, b)
}

// leaving bounds the attempts to resign.
func (c Config) leaving(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if c.Election.ResignWithin <= 0 {
		return ctx, cancel
	}
	timer := c.clock().AfterFunc(c.Election.ResignWithin, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}
