package core

import (
	"context"
	"time"

	"github.com/vimeo/go-clocks"
)

// wakeGap is the least time between two reads that Wake causes.
const wakeGap = 100 * time.Millisecond

// sleeper waits with an ear for Wake.
type sleeper struct {
	wake  <-chan struct{}
	woken time.Duration // when Wake last caused a read, on the monotonic clock
}

func newSleeper(wake <-chan struct{}, now instant) sleeper {
	return sleeper{wake: wake, woken: now.mono - wakeGap}
}

// wait waits for d, for Wake, or for ctx.
func (w *sleeper) wait(ctx context.Context, clock clocks.Clock, keeper *timekeeper, d time.Duration) {
	if w.wake == nil || d <= 0 {
		pause(ctx, clock, d)
		return
	}
	until := later(d, keeper.sample().mono)
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-*timer.Ch():
		return
	case _, open := <-w.wake:
		now := keeper.sample().mono
		if !open { // as good as nil, and always ready: never listen again
			w.wake = nil
			pause(ctx, clock, until-now)
			return
		}
		if early := w.woken + wakeGap - now; early > 0 {
			pause(ctx, clock, min(early, until-now))
		}
	}
	w.woken = keeper.sample().mono
}
