package lambdaleader

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// tenure is a leadership of this process.
type tenure struct {
	*core.Leadership
	term, interval time.Duration
	// abandon ends the context below the leadership, and with it whatever of it
	// is still there.
	abandon context.CancelCauseFunc
}

// invocation is one call of a handler that leads.
type invocation struct {
	l       *Leader
	called  context.Context // as the platform gave it
	ctx     context.Context // as the handler gets it
	tenure  *tenure
	renewal func()   // ends the renewing
	release []func() // contexts, and then the slot: in reverse order
}

// begin makes the caller lead, or says why it does not.
func (l *Leader) begin(called context.Context) (_ *invocation, err error) {
	inv := &invocation{l: l, called: called}
	defer func() {
		if err != nil {
			inv.free()
		}
	}()
	w := l.window(called)
	switch {
	case l.closing.Err() != nil:
		return nil, context.Cause(l.closing)
	case called.Err() != nil:
		return nil, fmt.Errorf("lambdaleader: the invocation had ended before it began: %w", context.Cause(called))
	case w.room() < l.opts.Margin:
		return nil, fmt.Errorf("%w: it is %v away, and Margin, %v, is needed twice: give the function a longer timeout, or a smaller Margin",
			ErrNoTime, w.left.Round(time.Millisecond), l.opts.Margin)
	}
	began := l.clock.Now()
	wait := min(l.opts.Wait, w.room()-l.opts.Margin)
	working := inv.limit(w)
	if err := l.take(working, wait); err != nil {
		return nil, err
	}
	inv.onFree(func() { <-l.slot })
	if inv.tenure = l.resume(working, w.room()); inv.tenure == nil {
		if inv.tenure, err = l.elect(called, working, began.Add(wait)); err != nil {
			return nil, err
		}
	}
	if over := inv.tenure.Check(); over != nil {
		l.kept = nil
		inv.resign()
		return nil, fmt.Errorf("lambdaleader: the leadership ended before the work began, nothing was done: %w", over)
	}
	l.setLeading(inv.tenure.Leadership)
	inv.onFree(func() { l.setLeading(nil) })
	var unbind context.CancelFunc
	inv.ctx, unbind = inv.tenure.Bind(working)
	inv.onFree(unbind)
	inv.renewal = inv.keepRenewed()
	return inv, nil
}

// limit returns the context of what the invocation does: it ends with the
// invocation, Margin before its deadline, and when the Leader shuts down.
func (inv *invocation) limit(w window) context.Context {
	l := inv.l
	ctx, cancel := context.WithCancelCause(inv.called)
	stop := context.AfterFunc(l.closing, func() { cancel(context.Cause(l.closing)) })
	inv.onFree(func() {
		stop()
		cancel(context.Canceled)
	})
	if w.left < forever {
		limited, release := l.clock.ContextWithTimeoutCause(ctx, w.room(), ErrNoTime)
		inv.onFree(release)
		ctx = limited
	}
	return ctx
}

func (inv *invocation) onFree(f func()) { inv.release = append(inv.release, f) }

func (inv *invocation) free() {
	for i := len(inv.release) - 1; i >= 0; i-- {
		inv.release[i]()
	}
}

// take waits until no other invocation of this process stands for election.
func (l *Leader) take(ctx context.Context, wait time.Duration) error {
	select {
	case l.slot <- struct{}{}:
		return nil
	default:
	}
	if wait <= 0 {
		return l.busy()
	}
	timer := l.clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case l.slot <- struct{}{}:
		return nil
	case <-*timer.Ch():
		return l.busy()
	case <-ctx.Done():
		return fmt.Errorf("lambdaleader: given up while another invocation of this process was at work: %w", context.Cause(ctx))
	}
}
