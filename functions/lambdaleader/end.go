package lambdaleader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// end is what follows when the handler has returned, or panics. It returns the
// error of the invocation.
func (inv *invocation) end(err error, returned bool) error {
	l, t := inv.l, inv.tenure
	defer inv.free()
	inv.renewal()
	over := t.Check()
	if over != nil || !l.opts.Keep || !returned || l.closing.Err() != nil {
		l.kept = nil
		inv.resign()
	} else {
		inv.settle()
	}
	if err == nil && (errors.Is(over, core.ErrLeadershipLost) || errors.Is(over, core.ErrTermExpired)) {
		return fmt.Errorf("lambdaleader: the handler returned after its leadership had ended, others may have worked beside it: %w", over)
	}
	return err
}

// resign gives the election up in the time that is left.
func (inv *invocation) resign() {
	l, t := inv.l, inv.tenure
	defer t.abandon(core.ErrResigned)
	within := l.window(inv.called).resignation()
	if limit := l.config.ResignWithin; limit > 0 {
		within = min(within, limit)
	}
	switch {
	case within <= 0:
		left := t.TimeLeft()
		t.abandon(ErrNoTime)
		_ = t.Check() // the reign is over now, and not when somebody looks
		l.log(slog.LevelWarn, "no time left to resign: the next leader has to wait for the end of the term",
			slog.Duration("term_left", left))
		return
	}
	ctx, cancel := inv.lastly(within)
	defer cancel()
	if err := t.Resign(ctx); err != nil {
		l.log(slog.LevelWarn, "not resigned", slog.String("error", err.Error()))
	}
}

// settle lets the callbacks return, a slow one too: a leadership that is kept leaves
// a timer behind, and no goroutine.
func (inv *invocation) settle() {
	within := inv.l.window(inv.called).resignation()
	if within <= 0 {
		return
	}
	ctx, cancel := inv.lastly(within)
	defer cancel()
	if err := inv.tenure.Settle(ctx); err != nil {
		inv.l.log(slog.LevelWarn, "a callback (OnEvent, Logger or LeaderChanged) did not return in time and may run beside the next invocation",
			slog.String("error", err.Error()))
	}
}

// lastly is the context of what is done when the work has returned: the end of the
// invocation's own does not count any more, only the time.
func (inv *invocation) lastly(within time.Duration) (context.Context, context.CancelFunc) {
	ctx := context.WithoutCancel(inv.called)
	if within >= forever/2 {
		return context.WithCancel(ctx)
	}
	return inv.l.clock.ContextWithTimeoutCause(ctx, within, ErrNoTime)
}
