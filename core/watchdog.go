package core

import (
	"context"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"
)

// watchdog ends a reign at the end of its term. It is a timer, not a
// goroutine: it looks at the clocks at least every TermLength/8, which also
// makes the leader notice a freeze, does no I/O, and takes no lock that I/O
// holds.
type watchdog struct {
	mu      sync.Mutex
	timer   clocks.StopTimer
	running sync.WaitGroup // one per pending timer or running bark
	stopped bool
}

func (d *watchdog) start(l *Leadership) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.arm(l)
	// The reign ends with the context that it was begun with, too; that needs
	// no timer any more.
	d.running.Add(1)
	context.AfterFunc(l.ctx, func() {
		defer d.running.Done()
		l.end(context.Cause(l.ctx))
		d.stop()
	})
}

// arm sets the timer for the next look. d.mu is held.
func (d *watchdog) arm(l *Leadership) {
	l.mu.Lock()
	left := l.reign.left(l.c.sample())
	l.mu.Unlock()
	d.running.Add(1)
	d.timer = l.c.Clock.AfterFunc(max(min(left, l.c.TermLength/8), 1), func() { d.bark(l) })
}

func (d *watchdog) bark(l *Leadership) {
	defer d.running.Done()
	if l.Check() != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped {
		d.arm(l)
	}
}

// stop makes sure that no timer is pending. It does not wait.
func (d *watchdog) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped && d.timer.Stop() {
		d.running.Done()
	}
	d.stopped = true
}

// wait returns when nothing of the watchdog runs any more.
func (d *watchdog) wait() {
	d.stop()
	d.running.Wait()
}

// pause waits for d on the clock, or until ctx ends: then it returns false.
func pause(ctx context.Context, clock clocks.Clock, d time.Duration) bool {
	if d > 0 {
		clock.SleepFor(ctx, d)
	}
	return ctx.Err() == nil // some clocks' SleepFor says true on an ended context
}
