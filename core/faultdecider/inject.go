package faultdecider

import (
	"context"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// inject sends a request of op and lets the faults that the plan has for it
// happen: first what keeps it from being sent, then what happens to its answer.
func inject[T any](ctx context.Context, d *Decider, op Op, send func(ctx context.Context) (T, error), late func(after time.Duration)) (answer T, err error) {
	met := d.draw(op)
	for _, f := range met {
		if err := d.before(ctx, f, late); err != nil {
			return answer, err
		}
	}
	answer, err = send(ctx)
	for _, f := range met {
		if f.Kind == Duplicate {
			answer, err = send(ctx)
		}
	}
	for _, f := range met {
		if lost := d.after(ctx, f); lost != nil {
			var none T
			return none, lost
		}
	}
	return answer, err
}

// before is what happens to a request on its way. An error means that it was
// not sent.
func (d *Decider) before(ctx context.Context, f Fault, late func(after time.Duration)) error {
	switch f.Kind {
	case Fail:
		return injected(f, nil)
	case Broken:
		return injected(f, core.ErrBroken)
	case Delay:
		if !d.clock.SleepFor(ctx, f.For) {
			return injected(f, ctx.Err())
		}
	case Hang:
		<-ctx.Done()
		return injected(f, ctx.Err())
	case Stuck:
		<-d.healed
		return injected(f, nil)
	case Late:
		late(f.For)
		return injected(f, nil)
	}
	return nil
}

// after is what happens to an answer on its way back. An error means that it
// never came.
func (d *Decider) after(ctx context.Context, f Fault) error {
	switch f.Kind {
	case Lose:
		return injected(f, nil)
	case DelayAfter:
		if !d.clock.SleepFor(ctx, f.For) {
			return injected(f, ctx.Err())
		}
	case HangAfter:
		<-ctx.Done()
		return injected(f, ctx.Err())
	}
	return nil
}
