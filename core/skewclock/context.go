package skewclock

import (
	"context"
	"sync"
	"time"
)

// ContextWithTimeout returns a context that ends with context.DeadlineExceeded
// when the monotonic clock has advanced by d.
func (c *Clock) ContextWithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.ContextWithTimeoutCause(ctx, d, nil)
}

// ContextWithTimeoutCause is ContextWithTimeout with a cause for the timeout.
// The Deadline it reports is the wall clock's now plus d, which is off by as
// much as that clock may jump in the meantime.
func (c *Clock) ContextWithTimeoutCause(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	x := newExpiring(ctx, c.Now().Add(d))
	return x, x.begin(d <= 0, cause, func(fire func()) *wait { return c.startMono(d, fire) })
}

// ContextWithDeadline returns a context that ends with context.DeadlineExceeded
// when the wall clock shows t.
func (c *Clock) ContextWithDeadline(ctx context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return c.ContextWithDeadlineCause(ctx, t, nil)
}

// ContextWithDeadlineCause is ContextWithDeadline with a cause for the timeout.
func (c *Clock) ContextWithDeadlineCause(ctx context.Context, t time.Time, cause error) (context.Context, context.CancelFunc) {
	x := newExpiring(ctx, t)
	return x, x.begin(c.Until(t) <= 0, cause, func(fire func()) *wait { return c.startWall(t, fire) })
}

// expiring is a context that a skewed clock ends. context.WithCancelCause alone
// cannot serve: its Err, and that of all its children, would be Canceled. So
// this one has a Done channel of its own, tells its children through AfterFunc
// (which package context looks for in parents it does not know), and leaves
// values and the cause to a cancelled context inside, which context.Cause finds
// through Value.
type expiring struct {
	parent   context.Context
	inside   context.Context // the parent's values, and the cause
	setCause context.CancelCauseFunc
	deadline time.Time
	done     chan struct{}

	mu      sync.Mutex
	err     error
	after   map[*func()]struct{} // what AfterFunc was given
	release func()               // gives back the timer and the hold on the parent
}

func newExpiring(parent context.Context, deadline time.Time) *expiring {
	x := &expiring{parent: parent, deadline: deadline, done: make(chan struct{}), after: map[*func()]struct{}{}}
	if d, ok := parent.Deadline(); ok && d.Before(deadline) {
		x.deadline = d
	}
	x.inside, x.setCause = context.WithCancelCause(context.WithoutCancel(parent))
	return x
}

// begin starts the wait, and returns what cancels it and the context. A context
// that is over before it begins is so at once, as in package context.
func (x *expiring) begin(over bool, cause error, start func(fire func()) *wait) context.CancelFunc {
	if cause == nil {
		cause = context.DeadlineExceeded
	}
	cancel := func() { x.end(context.Canceled, context.Canceled) }
	x.followParent()
	if over {
		x.end(context.DeadlineExceeded, cause)
		return cancel
	}
	unfollow := context.AfterFunc(x.parent, x.followParent)
	w := start(func() { x.end(context.DeadlineExceeded, cause) })
	x.mu.Lock()
	x.release = func() { unfollow(); w.Stop() }
	ended := x.err != nil
	x.mu.Unlock()
	if ended {
		x.release()
	}
	return cancel
}

// followParent ends x if its parent has ended. Done and Err ask for themselves
// (and context.Cause asks Err), so that x ends with its parent and not when a
// goroutine gets to it.
func (x *expiring) followParent() {
	if err := x.parent.Err(); err != nil {
		x.end(err, context.Cause(x.parent))
	}
}

// end ends the context; only the first call counts.
func (x *expiring) end(err, cause error) {
	x.mu.Lock()
	if x.err != nil {
		x.mu.Unlock()
		return
	}
	x.err = err
	x.setCause(cause)
	close(x.done)
	after, release := x.after, x.release
	x.after = nil
	x.mu.Unlock()
	if release != nil {
		release()
	}
	for f := range after {
		(*f)()
	}
}

// Deadline is when the context ends, by the wall clock.
func (x *expiring) Deadline() (time.Time, bool) { return x.deadline, true }

// Done is closed when the context has ended.
func (x *expiring) Done() <-chan struct{} {
	x.followParent()
	return x.done
}

// Err is context.DeadlineExceeded, context.Canceled, or the parent's.
func (x *expiring) Err() error {
	x.followParent()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

// Value returns the parent's value, and to package context the cause's bearer.
func (x *expiring) Value(key any) any { return x.inside.Value(key) }

// AfterFunc is how package context follows a parent that is not its own,
// without a goroutine. It holds a lock when it calls this, so f never runs here.
func (x *expiring) AfterFunc(f func()) (stop func() bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err != nil {
		go f()
		return func() bool { return false }
	}
	x.after[&f] = struct{}{}
	return func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		_, waiting := x.after[&f]
		delete(x.after, &f)
		return waiting
	}
}
