package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// Leadership is one reign: from a win that the store confirmed to its end,
// which is final. It is safe for concurrent use.
type Leadership struct {
	c      client
	ctx    context.Context // ends with the reign
	cancel context.CancelCauseFunc
	view   TimeView
	won    time.Duration // when the win was confirmed, by the smaller steps of both clocks
	proof  Proof
	pulse  pulse

	working sync.WaitGroup // OnElected, where Acquire began the reign

	mu    sync.Mutex // a leaf but for the clocks: never held over I/O or callbacks
	reign reign
	// writing: a write of this reign is under way; there is one at a time.
	// written is closed when it is over, if anybody waits for that.
	writing bool
	written chan struct{}
}

type (
	leadershipKey struct{} // the Leadership that a context belongs to
	boundKey      struct{} // the context that Bind was given
)

// FromContext returns the Leadership that ctx belongs to: inside OnElected,
// inside RunAsLeader's work, and below Leadership.Context and Bind.
func FromContext(ctx context.Context) (*Leadership, bool) {
	l, ok := ctx.Value(leadershipKey{}).(*Leadership)
	return l, ok
}

// newLeadership begins a reign with a confirmed win, or returns nil when the
// term that it granted has passed.
func newLeadership(ctx context.Context, c client, proof Proof, current *entry.RaceEntry, won attempt) *Leadership {
	l := &Leadership{c: c, proof: proof}
	l.view.keeper = c.Memory.keeper
	l.reign = newReign(current, won, c.TermLength)
	now := l.c.sample()
	if l.reign.check(now) != nil {
		return nil
	}
	l.won = now.sure
	if c.MinHold > 0 {
		c.Memory.hold(hold{current.FencingToken, now.sure + c.MinHold + rateMargin(c.MinHold)})
	}
	l.ctx, l.cancel = context.WithCancelCause(context.WithValue(ctx, leadershipKey{}, l))
	l.ctx.Done() // made here, where the stack is deep, and not where somebody waits for months
	l.view.reign = l.ctx
	l.view.show(now, l.reign.end)
	l.pulse.start(l)
	l.c.hooks.tell(now, Event{Kind: EventElected, Entry: *current, Proof: proof})
	return l
}

// Context ends with the reign, and no later than its term. Its cause
// (context.Cause) Is ErrLeadershipLost, ErrTermExpired or ErrResigned, or is
// that of the context that the reign was begun with.
func (l *Leadership) Context() context.Context { return l.ctx }

// FencingToken is the number of this reign. It rises from reign to reign: a
// resource that remembers the highest one it has seen, and refuses lower
// ones, is safe from leaders of the past whatever the clocks do.
func (l *Leadership) FencingToken() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reign.current.FencingToken
}

// Proof is what the win rested on.
func (l *Leadership) Proof() Proof { return l.proof }

// Expiration shows the end of the term; every renewal moves it.
func (l *Leadership) Expiration() *TimeView { return &l.view }

// TimeLeft is how much of the term is left, by the same measure as Check: zero
// once the reign is over. A renewal makes it TermLength again.
func (l *Leadership) TimeLeft() time.Duration {
	now, err := l.look()
	if err != nil {
		return 0
	}
	return l.reignLeft(now)
}

// Check tells whether the reign lasts: nil, or why it is over. It asks the
// clocks, not the context, so it knows at once after a freeze. Call it right
// before whatever only a leader may do.
func (l *Leadership) Check() error {
	_, err := l.look()
	return err
}

// look is Check, and returns the instant that it is about.
func (l *Leadership) look() (instant, error) {
	l.mu.Lock()
	now := l.c.sample()
	err := l.reign.over
	if err == nil && l.ctx.Err() != nil {
		l.reign.finish(now, parentEnded(l.ctx))
	}
	news := err == nil && l.reign.check(now) != nil
	err = l.reign.over
	l.mu.Unlock()
	if news {
		l.ended(now, err)
	}
	return now, err
}

// parentEnded is why a reign is over whose own context was ended from above:
// that one's cause. The end of another leadership, in whose context this one was
// begun, is told in words only: nobody has touched this one's entry.
func parentEnded(ctx context.Context) error {
	cause := context.Cause(ctx)
	for _, ours := range []error{ErrLeadershipLost, ErrTermExpired, ErrResigned} {
		if errors.Is(cause, ours) {
			return fmt.Errorf("core: the context of this leadership has ended: %w (%v)", ctx.Err(), cause)
		}
	}
	return cause
}

// end ends the reign, unless it has ended. It does no I/O and waits for nothing.
func (l *Leadership) end(why error) {
	l.mu.Lock()
	now := l.c.sample()
	news := l.reign.over == nil
	l.reign.finish(now, why)
	why = l.reign.over
	l.mu.Unlock()
	l.cancel(why) // whoever ended it may not have come to that yet
	if news {
		l.ended(now, why)
	}
}

// ended makes the end of the reign known: first to the work.
func (l *Leadership) ended(now instant, why error) {
	l.cancel(why)
	l.view.expire(now)
	l.mu.Lock()
	nonces, current := l.reign.nonces(), l.reign.current
	l.mu.Unlock()
	l.c.Memory.end(nonces...)
	l.c.hooks.tell(now, Event{Kind: EventEnded, Entry: *current, Err: why})
}

// Bind returns a context that ends with ctx or with the reign, whichever ends
// first, with the cause of that one. The cancel function releases it.
func (l *Leadership) Bind(ctx context.Context) (context.Context, context.CancelFunc) {
	ours := context.WithValue(context.WithValue(ctx, leadershipKey{}, l), boundKey{}, ctx)
	bound, cancel := context.WithCancelCause(ours)
	if err := l.Check(); err != nil {
		cancel(err)
	}
	stop := context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })
	return bound, func() {
		stop()
		cancel(context.Canceled)
	}
}

// Settle waits until OnEvent, the Logger and LeaderChanged have been told all that
// has happened so far and have returned; or until ctx ends, and returns its cause.
// For whoever must not leave a goroutine behind while the reign goes on, as between
// two invocations of a function.
func (l *Leadership) Settle(ctx context.Context) error {
	l.c.hooks.drain(ctx.Done())
	return context.Cause(ctx)
}

// overrun is Check for work that has returned: it also fails if the reign ended as it
// was told to, but its term was over before the work had stopped.
func (l *Leadership) overrun() error {
	err := l.Check()
	if err == nil || errors.Is(err, ErrLeadershipLost) || errors.Is(err, ErrTermExpired) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.reign.resigned:
		return err
	case l.reign.lost:
		return fmt.Errorf("%w, before the work had stopped", ErrLeadershipLost)
	case l.reign.left(l.c.sample()) <= 0:
		return fmt.Errorf("%w, before the work had stopped: it may have been done beside the next leader", ErrTermExpired)
	}
	return err
}

// LastRenewed is when the last confirmed write was sent, on the local wall clock.
func (l *Leadership) LastRenewed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reign.sent.wall
}

// Checkpoint is what the last leader left, or what was saved since.
func (l *Leadership) Checkpoint() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]byte(nil), l.reign.current.Checkpoint...)
}

// Entry is the last version of this reign that the store confirmed.
func (l *Leadership) Entry() entry.RaceEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reign.current.Clone()
}
