package skewclock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/skewclock"
)

var errMine = errors.New("mine")

func bubble(t *testing.T, f func(t *testing.T, c *skewclock.Clock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, skewclock.New(clocks.DefaultClock(), nil)) })
}

// ended checks ctx and everything package context derives from it.
func ended(t *testing.T, ctx context.Context, err, cause error) {
	t.Helper()
	select {
	case <-ctx.Done():
	default:
		t.Error("Done is open")
	}
	if ctx.Err() != err || context.Cause(ctx) != cause {
		t.Errorf("Err %v, Cause %v; want %v, %v", ctx.Err(), context.Cause(ctx), err, cause)
	}
}

func TestTimeoutReachesChildren(t *testing.T) {
	for _, tc := range []struct{ given, want error }{{nil, context.DeadlineExceeded}, {errMine, errMine}} {
		bubble(t, func(t *testing.T, c *skewclock.Clock) {
			type key struct{}
			ctx, cancel := c.ContextWithTimeoutCause(context.WithValue(t.Context(), key{}, 7), time.Second, tc.given)
			defer cancel()
			child, cancelChild := context.WithCancel(ctx)
			defer cancelChild()
			grandchild, cancelGrandchild := c.ContextWithTimeout(child, time.Hour)
			defer cancelGrandchild()
			ran := make(chan struct{})
			context.AfterFunc(ctx, func() { close(ran) })

			if ctx.Value(key{}) != 7 || ctx.Err() != nil || context.Cause(ctx) != nil {
				t.Errorf("value %v, err %v, cause %v", ctx.Value(key{}), ctx.Err(), context.Cause(ctx))
			}
			<-grandchild.Done()
			<-ran
			for _, x := range []context.Context{ctx, child, grandchild} {
				ended(t, x, context.DeadlineExceeded, tc.want)
			}
			late, cancelLate := context.WithCancel(ctx)
			defer cancelLate()
			ended(t, late, context.DeadlineExceeded, tc.want)
		})
	}
}

// A context ends with its parent at once, not when some goroutine gets to it.
func TestParentsEndIsSeenAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, c *skewclock.Clock) {
		for range 100 {
			parent, cancelParent := context.WithCancelCause(t.Context())
			ctx, cancel := c.ContextWithTimeout(parent, time.Second)
			cancelParent(errMine)
			if context.Cause(ctx) != errMine {
				t.Fatalf("cause %v", context.Cause(ctx))
			}
			ended(t, ctx, context.Canceled, errMine)
			cancel()
			ended(t, ctx, context.Canceled, errMine)
		}
	})
}

func TestDoneFollowsTheParentAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, c *skewclock.Clock) {
		for range 100 {
			parent, cancelParent := context.WithCancel(t.Context())
			ctx, cancel := c.ContextWithTimeout(parent, time.Second)
			cancelParent()
			select {
			case <-ctx.Done():
			default:
				t.Fatal("open")
			}
			cancel()
		}
	})
}

// Package context finds this method in a parent that is not its own; the end
// may come between its look at Done and the call.
func TestAfterFuncOnAnEndedContext(t *testing.T) {
	bubble(t, func(t *testing.T, c *skewclock.Clock) {
		ctx, cancel := c.ContextWithTimeout(t.Context(), time.Second)
		cancel()
		ran := make(chan struct{})
		stop := ctx.(interface{ AfterFunc(f func()) func() bool }).AfterFunc(func() { close(ran) })
		<-ran
		if stop() {
			t.Error("stopped after it ran")
		}
	})
}

func TestCancelled(t *testing.T) {
	bubble(t, func(t *testing.T, c *skewclock.Clock) {
		ctx, cancel := c.ContextWithTimeoutCause(t.Context(), time.Second, errMine)
		child, cancelChild := context.WithCancel(ctx)
		stop := context.AfterFunc(ctx, func() { t.Error("a stopped AfterFunc ran") })
		if !stop() || stop() {
			t.Error("stop is true once")
		}
		cancelChild()
		cancel()
		ended(t, ctx, context.Canceled, context.Canceled)
		ended(t, child, context.Canceled, context.Canceled)
		time.Sleep(time.Minute)
		ended(t, ctx, context.Canceled, context.Canceled)
	})
}

func TestOverBeforeItBegins(t *testing.T) {
	bubble(t, func(t *testing.T, c *skewclock.Clock) {
		dead, kill := context.WithCancelCause(t.Context())
		kill(errMine)
		for name, begin := range map[string]func(ctx context.Context) (context.Context, context.CancelFunc){
			"timeout": func(ctx context.Context) (context.Context, context.CancelFunc) { return c.ContextWithTimeout(ctx, 0) },
			"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
				return c.ContextWithDeadline(ctx, c.Now())
			},
		} {
			t.Log(name)
			ctx, cancel := begin(t.Context())
			defer cancel()
			ended(t, ctx, context.DeadlineExceeded, context.DeadlineExceeded)
			ctx, cancel = begin(dead)
			defer cancel()
			ended(t, ctx, context.Canceled, errMine)
		}
	})
}

func TestDeadlineIsTheEarlierOne(t *testing.T) {
	bubble(t, func(t *testing.T, c *skewclock.Clock) {
		parent, cancelParent := context.WithDeadline(t.Context(), c.Now().Add(time.Second))
		defer cancelParent()
		for _, tc := range []struct{ mine, want time.Duration }{{time.Minute, time.Second}, {time.Millisecond, time.Millisecond}} {
			ctx, cancel := c.ContextWithTimeout(parent, tc.mine)
			defer cancel()
			if d, ok := ctx.Deadline(); !ok || !d.Equal(c.Now().Add(tc.want)) {
				t.Errorf("%v under 1s: deadline %v, %v", tc.mine, d, ok)
			}
		}
	})
}
