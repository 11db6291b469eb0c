package core

import (
	"context"
	"errors"
	"fmt"
)

// Acquire campaigns, leads with the callbacks, and campaigns again, until ctx
// ends or, while nothing is led, the store is broken. Then it resigns, waits
// for every callback and returns ctx's error or the store's. Transient errors
// of the store never end it.
//
// Per reign: OnElected starts; the reign ends, and with it OnElected's
// context; OnOusting runs; when both have returned the election is given up in
// the store, or campaigned for again.
func (c Config) Acquire(ctx context.Context) error {
	a, err := aside(func() (*acquisition, error) { return newAcquisition(ctx, c) })
	if err != nil {
		return err
	}
	defer a.hooks.drain(nil)
	for {
		l, err := aside(a.campaign)
		if err != nil {
			return err
		}
		l.serve(ctx)
		if _, err := aside(func() (bool, error) { return true, l.settleAcquired(ctx) }); err != nil {
			return err
		}
	}
}

// aside calls f on a stack of its own and waits for it. A campaign needs a
// deep stack for a moment; whoever leads hundreds of elections for months has to
// keep the shallow one only.
func aside[T any](f func() (T, error)) (T, error) {
	done := make(chan answer[T])
	go func() {
		v, err := f()
		done <- answer[T]{v, err}
	}()
	a := <-done
	return a.value, a.err
}

// acquisition is one call of Acquire.
type acquisition struct {
	*settings
	ctx   context.Context
	hooks *hooks
}

func newAcquisition(ctx context.Context, c Config) (*acquisition, error) {
	c.WaitAtMost = 0 // bounds Campaign and RunAsLeader only
	if c.OnElected == nil {
		return nil, errors.Join(c.Validate(), fmt.Errorf("%w: Acquire needs OnElected", ErrInvalidConfig))
	}
	s, err := c.resolve()
	if err != nil {
		return nil, err
	}
	return &acquisition{s, ctx, newHooks(ctx, s)}, nil
}

func (a *acquisition) campaign() (*Leadership, error) {
	return newCampaign(a.settings, a.hooks, false).run(a.ctx)
}

// serve runs the callbacks of one reign, to the end of all of them.
func (l *Leadership) serve(ctx context.Context) {
	elected := make(chan struct{})
	go func() {
		defer close(elected)
		l.c.OnElected(l.ctx, &l.view)
	}()
	<-l.ctx.Done()
	if l.c.OnOusting != nil {
		l.c.OnOusting(ctx)
	}
	<-elected
}

// settleAcquired leaves the store in order after a reign, when its callbacks
// have returned. It returns ctx's error if Acquire is to end.
func (l *Leadership) settleAcquired(ctx context.Context) error {
	over := l.Check()
	l.pulse.wait()
	if ctx.Err() != nil {
		// What goes wrong is told as EventNotResigned; the term's end does the rest.
		_ = l.Resign(context.WithoutCancel(ctx))
		return ctx.Err()
	}
	// A Resign that a callback has begun elsewhere must be done first.
	_ = l.lock(context.WithoutCancel(ctx), nil)
	l.unlock()
	if errors.Is(over, ErrResigned) {
		// Its leader stepped down by itself: let somebody else come first.
		pause(ctx, l.c.Clock, 2*l.c.PollInterval)
	}
	return nil
}
