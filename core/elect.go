package core

import (
	"context"
	"errors"
	"fmt"
)

// Campaign blocks until this candidate is elected, and renews the leadership
// in the background until it ends (unless ManualRenew is set). ctx spans the
// campaign and the reign, like that of a database transaction: when it ends,
// the leadership does. Call Resign when the work has stopped.
//
// The error is ctx's if that ended first (with what the store last said, if
// that was not an answer), Is ErrBroken if the store refuses for good, and
// ErrInvalidConfig if c contradicts itself. After WaitAtMost it
//
//   - Is ErrHeld if this call has seen that the election is not free (and
//     ErrBadEntry if what is stored is not an entry), with what the store said
//     since, if that taught nothing;
//   - otherwise wraps what the store last said: no read was answered, or the
//     election is free and the attempts to take it failed.
func (c Config) Campaign(ctx context.Context) (*Leadership, error) {
	return c.campaign(ctx, false)
}

// TryAcquire makes one attempt to be elected, without waiting: one read, and
// one write where the read proves that the election is free. The result is
// like Campaign's. The error Is ErrHeld (a *HeldError) if somebody leads or
// came first; it Is ErrBadEntry or ErrBroken, or is what the store answered. An
// attempt with an unknown outcome that was not found stored is such an error:
// with a Memory, a later call recognises it.
func (c Config) TryAcquire(ctx context.Context) (*Leadership, error) {
	return c.campaign(ctx, true)
}

func (c Config) campaign(ctx context.Context, once bool) (*Leadership, error) {
	s, err := c.resolve()
	if err = errors.Join(err, contextFault(ctx)); err != nil {
		return nil, err
	}
	return s.campaign(ctx, once)
}

// contextFault is what to say to a nil context, which would panic in a goroutine
// that no caller can recover.
func contextFault(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: the context is nil: pass context.Background()", ErrInvalidConfig)
	}
	return nil
}

func (s *settings) campaign(ctx context.Context, once bool) (*Leadership, error) {
	h := newHooks(ctx, s)
	camp := newCampaign(s, h, once)
	l, err := camp.run(ctx)
	if err != nil {
		h.drain(nil)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = camp.withAnswer(err)
		}
		return nil, err
	}
	l.pulse.follow(l)
	return l, nil
}

// RunAsLeader campaigns, runs work while leading, and resigns when work has
// returned. The context that work gets ends with the leadership. From then on nothing
// is renewed, also when ctx was what ended: work that takes longer to stop than the
// term lasts may be done beside a successor.
//
// It returns work's error; if the reign was over before work returned, the
// reason is joined to it (ErrLeadershipLost, ErrTermExpired), because the work
// may have been done beside a successor; if the store did not confirm the
// resignation, so is an error that Is ErrNotResigned. Without a win it
// returns what Campaign returns. A panic of work resigns and goes on.
func (c Config) RunAsLeader(ctx context.Context, work func(ctx context.Context, l *Leadership) error) (err error) {
	if work == nil {
		return fmt.Errorf("%w: there is no work to run as leader", ErrInvalidConfig)
	}
	l, err := c.Campaign(ctx)
	if err != nil {
		return err
	}
	defer func() {
		over := l.overrun()
		l.end(ErrResigned) // for good, before anything else
		if !errors.Is(over, ErrLeadershipLost) && !errors.Is(over, ErrTermExpired) {
			over = nil
		}
		if errors.Is(err, over) {
			over = nil
		}
		err = errors.Join(err, over, l.giveUp(ctx))
	}()
	return work(l.Context(), l)
}
