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
//
// While it leads, one goroutine waits here with a shallow stack, and OnElected
// has another. Whatever takes a deep stack for a moment, like campaigning, has a
// goroutine for that moment: who leads thousands of elections pays for waiting only.
func (c Config) Acquire(ctx context.Context) error {
	a := &acquisition{settings: settings{Config: c}}
	l := a.first.begin()
	go a.begin(ctx, l)
	for {
		won, err := a.supervise(ctx, l)
		if err != nil {
			return err
		}
		<-won.ctx.Done()
		if a.OnOusting != nil {
			a.OnOusting(ctx)
		}
		won.working.Wait()
		l = new(leg).begin()
		go a.follow(ctx, won, l)
	}
}

// acquisition is one call of Acquire.
type acquisition struct {
	settings
	hooks    *hooks
	first    leg
	campaign *campaign // nil where there is none to wait for
}

// begin checks the Config and campaigns for the first time.
func (a *acquisition) begin(ctx context.Context, l *leg) {
	var faults error
	if a.OnElected == nil {
		faults = fmt.Errorf("%w: Acquire needs OnElected", ErrInvalidConfig)
	}
	a.WaitAtMost = 0 // bounds Campaign and RunAsLeader only
	if err := errors.Join(a.complete(), faults, contextFault(ctx)); err != nil {
		l.end(&turn{move: move{kind: moveDone, err: err}})
		return
	}
	a.hooks = newHooks(ctx, &a.settings)
	a.play(ctx, l)
}

func (a *acquisition) play(ctx context.Context, l *leg) {
	a.campaign = newCampaign(&a.settings, a.hooks, false)
	a.campaign.serves = true
	a.campaign.play(ctx, nil, l)
}

// supervise waits for a win; when there will be none, for every callback.
func (a *acquisition) supervise(ctx context.Context, l *leg) (won *Leadership, err error) {
	if last := l.wait(); a.campaign == nil {
		err = last.move.err
	} else {
		won, err = a.campaign.supervise(ctx, l)
	}
	l.last, a.campaign = nil, nil // they would be kept for as long as the reign
	if err != nil && a.hooks != nil {
		a.hooks.drain(nil)
	}
	return won, err
}

// follow leaves the store in order after a reign whose callbacks have
// returned, and campaigns again unless ctx has ended.
func (a *acquisition) follow(ctx context.Context, last *Leadership, l *leg) {
	over := last.Check()
	last.pulse.wait()
	if ctx.Err() != nil {
		// What goes wrong is told as EventNotResigned; the term's end does the rest.
		_ = last.giveUp(ctx)
		l.end(&turn{move: move{kind: moveDone, err: ctx.Err()}})
		return
	}
	// A Resign that a callback has begun elsewhere must be done first.
	_ = last.lock(context.WithoutCancel(ctx), nil)
	last.unlock()
	if errors.Is(over, ErrResigned) {
		// Its leader stepped down by itself: let somebody else come first.
		pause(ctx, a.Clock, 2*a.PollInterval)
	}
	a.play(ctx, l)
}
