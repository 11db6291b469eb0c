package core

import (
	"context"
	"errors"
	"fmt"
)

// Acquire campaigns, leads with the callbacks, and campaigns again, until ctx
// ends or, while nothing is led, the store is broken. Then it resigns, waits
// for every callback and returns ctx's error or the store's. Transient errors of the
// store never end it.
//
// Per reign: OnElected starts; the reign ends, and with it OnElected's
// context; OnOusting runs; when both have returned the election is given up in
// the store, or campaigned for again.
func (c Config) Acquire(ctx context.Context) error {
	if c.OnElected == nil {
		return errors.Join(c.Validate(), fmt.Errorf("%w: Acquire needs OnElected", ErrInvalidConfig))
	}
	s, err := c.resolve()
	if err != nil {
		return err
	}
	s.WaitAtMost = 0 // bounds Campaign and RunAsLeader only
	h := newHooks(ctx, s)
	defer h.drain(nil)
	for {
		l, err := newCampaign(s, h, false).run(ctx)
		if err != nil {
			return err
		}
		l.serve(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(l.Check(), ErrResigned) {
			// Its leader stepped down by itself: let somebody else come first.
			pause(ctx, s.Clock, 2*s.PollInterval)
		}
	}
}

// serve runs one reign with its callbacks, to the end of all of them. The
// caller's goroutine renews; only OnElected needs one of its own.
func (l *Leadership) serve(ctx context.Context) {
	elected := make(chan struct{})
	go func() {
		defer close(elected)
		l.c.OnElected(l.ctx, &l.view)
	}()
	if l.c.ManualRenew {
		<-l.ctx.Done()
	} else {
		l.keep()
	}
	if l.c.OnOusting != nil {
		l.c.OnOusting(ctx)
	}
	<-elected
	l.dog.wait()
	if ctx.Err() != nil {
		// Errors are told as EventNotResigned; the term's end does the rest.
		_ = l.Resign(context.WithoutCancel(ctx))
		return
	}
	// A Resign that a callback has begun elsewhere must be done first.
	_ = l.lock(context.WithoutCancel(ctx))
	l.unlock()
}
