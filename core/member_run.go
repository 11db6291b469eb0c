package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// RunElection takes part in an election until ctx ends or this member has led
// and does no longer: it campaigns, leads with the callbacks, waits for
// them, resigns, and returns. It does not campaign a second time; Config.Acquire
// does.
//
// nil means that ctx has ended, or that the member itself has resigned, and
// that, if it led, the store confirmed the resignation. An error Is
// ErrNotResigned if the store did not; ErrLeadershipLost or ErrTermExpired if
// that is how the leadership ended, or if OnStartedLeading took longer to return than
// the term lasted: nothing is renewed while it does; ErrDuplicateMember if another process with
// this member's ID was seen at work; ErrBroken if the store refuses for good
// while nothing is led; ErrInvalidConfig; or what Open returned. Several of them
// may come together. Transient errors of the store never end it.
func RunElection(ctx context.Context, config *LeaderElectionConfig) error {
	return errors.Join(runElection(ctx, config))
}

// RunElectionOrDie is RunElection that panics with its error, unless that is only
// ErrNotResigned: a shutdown that was asked for is no crash because the store does
// not answer. That error it returns.
func RunElectionOrDie(ctx context.Context, config *LeaderElectionConfig) error {
	failed, unresigned := runElection(ctx, config)
	if failed != nil {
		panic(errors.Join(failed, unresigned))
	}
	return unresigned
}

// runElection keeps the failure apart from the resignation that was not confirmed.
func runElection(ctx context.Context, config *LeaderElectionConfig) (failed, unresigned error) {
	if config == nil {
		return fmt.Errorf("%w: the LeaderElectionConfig is nil", ErrInvalidConfig), nil
	}
	m := &member{LeaderElectionConfig: *config}
	m.news.tell = m.Callbacks.OnNewLeader
	if err := errors.Join(m.validate(), contextFault(ctx)); err != nil {
		return err, nil
	}
	failed, unresigned = m.run(ctx)
	return m.named(failed), m.named(unresigned)
}

// member is one call of RunElection.
type member struct {
	LeaderElectionConfig
	news news
	twin twin
}

// named adds to err which election it is about: a process may run hundreds.
func (m *member) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("election %q, member %q: %w", m.Name, m.identity(), err)
}

func (m *member) run(ctx context.Context) (failed, unresigned error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	store, closing := context.WithCancelCause(context.WithoutCancel(ctx))
	defer closing(nil)
	decider, err := m.open(ctx, store, closing)
	if err != nil || ctx.Err() != nil {
		return err, nil
	}
	campaigning, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	m.twin.watch(m.identity(), decider, stop)
	s := &settings{Config: m.config(&m.twin), leaderNoted: m.news.noted}
	if err := s.complete(); err != nil {
		return fmt.Errorf("the store %v and LeaseDurationSeconds %d do not fit: %w", &m.twin, m.LeaseDurationSeconds, err), nil
	}
	defer m.news.drain()
	l, err := s.campaign(campaigning, false)
	if err != nil {
		return m.failure(campaigning, err), nil
	}
	return m.lead(campaigning, l)
}

// open calls Open with a context that ends with ctx only while Open runs: what it
// opens may be bound to that context, and has to serve for the resignation.
func (m *member) open(ctx, store context.Context, closing context.CancelCauseFunc) (RaceDecider, error) {
	opened := context.AfterFunc(ctx, func() { closing(context.Cause(ctx)) })
	d, err := m.Open(store, m.Name)
	opened()
	switch {
	case ctx.Err() != nil:
		return nil, nil // whatever Open says, it was cut off
	case err != nil:
		return nil, fmt.Errorf("core: the store could not be opened: %w", err)
	case isNilPointer(d):
		return nil, fmt.Errorf("%w: Open returned neither a store nor an error", ErrInvalidConfig)
	}
	return d, nil
}

// failure is what a campaign that ended without a win has to tell: nothing when it
// was told to end.
func (m *member) failure(campaigning context.Context, err error) error {
	switch cause := context.Cause(campaigning); {
	case errors.Is(cause, ErrDuplicateMember):
		return cause
	case campaigning.Err() != nil && !errors.Is(err, ErrBroken):
		return nil
	}
	return err
}

// lead calls the callbacks of a leadership and leaves it in order.
func (m *member) lead(ctx context.Context, l *Leadership) (failed, unresigned error) {
	if l.Check() == nil { // it may have ended at the very instant of the win
		begun := make(chan struct{})
		var working sync.WaitGroup
		working.Go(func() {
			close(begun)
			m.Callbacks.OnStartedLeading(l.Context())
		})
		<-l.Context().Done()
		<-begun
		m.Callbacks.OnStoppedLeading()
		working.Wait()
	}
	over := l.overrun()
	unresigned = l.giveUp(ctx)
	l.c.hooks.drain(nil)
	return m.reason(over, l), unresigned
}

// reason is why a leadership ended, if nobody had asked for that.
func (m *member) reason(over error, l *Leadership) error {
	switch {
	case errors.Is(over, ErrLeadershipLost), errors.Is(over, ErrTermExpired):
		if by := m.twin.replaced(l.Entry()); by != nil {
			return fmt.Errorf("%w; %w", over, by)
		}
		return over
	case errors.Is(over, ErrDuplicateMember):
		return over
	}
	return nil
}
