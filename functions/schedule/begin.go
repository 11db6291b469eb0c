package schedule

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// Begin takes a slot. If it is this caller's turn, it returns the Run, and the
// caller works and then calls Run.Finish, whatever happened. Otherwise the Run is nil, and
// the Result or the error says why. Config.Run is both calls with the work in between.
//
// An error means that nothing was run and that the Outcome is Unknown. It Is
// core.ErrInvalidConfig, ErrCheckpoint, ErrFutureSlot or ErrNoDate, is ctx's if that
// ended first, or is what core.Config.TryAcquire or Campaign returned: a store that
// does not answer is an error however long the WaitAtMost was, and never Running.
//
// Until Finish is called the slot is held, even after ctx has ended: work that
// ignores its context keeps others away for as long as it runs.
func (c Config) Begin(ctx context.Context, slot Slot) (*Run, Result, error) {
	if err := errors.Join(c.Validate(), slot.Validate(), contextFault(ctx)); err != nil {
		return nil, Result{Slot: slot}, err
	}
	g := &gate{RaceDecider: c.Election.Decider, policy: c.OnFailure, maxAhead: c.maxAhead(),
		waits: c.Election.WaitAtMost > 0, now: c.clock().Now, run: newRunID(), slot: slot}
	l, end, err := c.campaign(ctx, g)
	slot, last, refused := g.known()
	res := Result{Slot: slot, Last: last.slot()}
	var held *core.HeldError
	switch {
	case err == nil:
	case refused != nil:
		res.Outcome = refused.outcome
		return nil, res, refused.err
	case errors.As(err, &held) && !errors.Is(err, core.ErrBadEntry): // for a bad entry there is nothing to wait for
		res.Outcome, res.Leader, res.RetryAfter = Running, held.Current.LeaderID, max(held.RetryAfter, time.Second)
		if won, err := readMark(held.Current.Checkpoint); err == nil && held.Current.Vacant() {
			// A race was lost to somebody who is done by now: maybe with this slot.
			if outcome := decide(won, slot, c.OnFailure); outcome != Unknown {
				res = Result{Outcome: outcome, Slot: slot, Last: won.slot()}
			}
		}
		return nil, res, nil
	default:
		return nil, res, err
	}
	g.lift()
	r := &Run{config: c, leadership: l, end: end, slot: slot, last: last}
	if res.Outcome, err = r.take(ctx, g.run); err == nil && res.Outcome == Unknown && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if res.Outcome != Unknown || err != nil {
		r.giveBack(ctx)
		return nil, res, err
	}
	r.ctx, r.release = l.Bind(ctx)
	return r, res, nil
}

// campaign asks for the leadership: until ctx ends, but the reign does not
// end with it. end ends what belongs to the reign, after its resignation.
func (c Config) campaign(ctx context.Context, g *gate) (l *core.Leadership, end context.CancelFunc, err error) {
	e := c.Election
	e.Decider = g
	e.Logger, e.OnEvent = quietLogger(e.Logger), quietHook(e.OnEvent)
	reign, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	end = func() { cancel(context.Canceled) }
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	if e.WaitAtMost > 0 {
		l, err = e.Campaign(reign)
	} else {
		l, err = e.TryAcquire(reign)
	}
	stop()
	if err == nil {
		return l, end, nil
	}
	end()
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err) // core saw our own cancel only
	}
	return nil, end, err
}

// contextFault is what to say to a nil context, before anything is sent.
func contextFault(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: the context is nil: pass context.Background()", core.ErrInvalidConfig)
	}
	return nil
}

func newRunID() string {
	var b [6]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
