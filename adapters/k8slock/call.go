package k8slock

import (
	"context"
	"fmt"
	"time"
)

// bounded calls f and waits for its answer for limit at most: a hung request
// must not keep client-go from ending a leadership. f runs in a goroutine of its
// own, so that a store call that ignores its context keeps nobody waiting; that
// goroutine ends when the call does. The outcome of a call that was given up is
// unknown, whatever the call says later.
func bounded[T any](ctx context.Context, l *Lock, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, givenUp(ctx)
	}
	late := &lateError{limit}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := l.opts.Clock.AfterFunc(limit, func() { cancel(late) })
	defer timer.Stop()

	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	sent := l.time.Look()
	go func() {
		v, err := f(ctx)
		answered <- answer{v, err}
	}()
	var a answer
	select {
	case a = <-answered:
	case <-ctx.Done():
		return none, givenUp(ctx)
	}
	switch {
	case ctx.Err() != nil: // the error may be the context's cause and no answer
		return none, givenUp(ctx)
	case l.time.Look().AtMost-sent.AtMost > limit: // this process stood still
		return none, late
	}
	return a.value, a.err
}

func givenUp(ctx context.Context) error {
	if late, ok := context.Cause(ctx).(*lateError); ok {
		return late
	}
	return fmt.Errorf("request given up: %w (%v)", ctx.Err(), context.Cause(ctx))
}

// lateError: the store did not answer in the time that a lease allows for.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string {
	return fmt.Sprintf("no answer from the store within %v", e.limit)
}

// Timeout makes it look like other time-outs to net.Error's users.
func (*lateError) Timeout() bool { return true }

// Is makes it a context.DeadlineExceeded.
func (*lateError) Is(target error) bool { return target == context.DeadlineExceeded }
