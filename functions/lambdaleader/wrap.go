package lambdaleader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/cloudelect/cloudelect/core"
)

// Handler is the work of a leader. ctx has the values of the invocation. It ends
// with the leadership, with the invocation, and Options.Margin before the
// invocation's deadline; context.Cause says why. lead is the leadership: call its
// Check right before whatever only a leader may do, and hand its FencingToken to
// whatever can compare it. core.FromContext(ctx) finds it, too.
type Handler[In, Out any] func(ctx context.Context, lead *core.Leadership, in In) (Out, error)

// Wrap returns a handler for lambda.Start that runs handle only while leading.
//
// The error is handle's own, if it has one. Otherwise nil means that handle
// succeeded while it led, or that this was a follower's invocation and is
// skipped; with Options.FailFollowers that one gets a *FollowerError. An
// error that Is core.ErrLeadershipLost or core.ErrTermExpired means that the
// leadership had ended before handle returned: the work may have been done
// beside a successor. Any other error means that handle was not called:
// ErrNoTime, ErrShutdown, or what the store said (core.ErrBroken,
// core.ErrBadEntry, or an answer that is worth a retry).
//
// A resignation that the store does not confirm in time is no error, because
// the work is done: it is logged, and the next leader waits for the term's end.
func Wrap[In, Out any](l *Leader, handle Handler[In, Out]) func(context.Context, In) (Out, error) {
	return WrapOr(l, handle, nil)
}

// WrapOr is Wrap with an answer of one's own for followers: follow is called in
// handle's place, with the context of the invocation, and told who leads. With a
// nil follow it is Wrap.
func WrapOr[In, Out any](l *Leader, handle Handler[In, Out], follow func(ctx context.Context, in In, held *core.HeldError) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		if l == nil || handle == nil {
			return out, fmt.Errorf("%w: lambdaleader: Wrap needs a Leader and a handler", core.ErrInvalidConfig)
		}
		if ctx == nil {
			return out, fmt.Errorf("%w: lambdaleader: the invocation's context is nil: pass context.Background()", core.ErrInvalidConfig)
		}
		inv, err := l.begin(ctx)
		if err != nil {
			other := (*FollowerError)(nil)
			if !errors.As(err, &other) {
				return out, err
			}
			if follow != nil {
				return follow(ctx, in, other.Held)
			}
			if l.opts.FailFollowers {
				return out, other
			}
			l.log(slog.LevelInfo, "skipped: not the leader", slog.String("leader", other.Held.Current.LeaderID),
				slog.Duration("retry_after", other.Held.RetryAfter), slog.String("why", other.Held.Reason))
			return out, nil
		}
		returned := false
		// Not recovered: the runtime reports a panic with its stack.
		defer func() { err = inv.end(err, returned) }()
		out, err = handle(inv.ctx, inv.tenure.Leadership, in)
		returned = true
		return out, err
	}
}
