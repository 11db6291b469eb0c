package skewclock

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/vimeo/go-clocks"
)

// wait is something that happens when a hand shows due. It is armed on the base
// clock for the moment when that will be if nothing changes, and looked at
// again when that moment comes or something does change.
type wait struct {
	clock *Clock
	hand  *hand
	due   time.Duration
	fire  func() // on a goroutine of the base's, without the clock's lock

	// Under clock.mu.
	sequence uint64 // order of creation: waits are re-armed in this order
	armed    uint64 // which arming counts; an earlier one that still fires is ignored
	timer    clocks.StopTimer
}

// startMono and startWall make fire run when the clock in question shows due.
func (c *Clock) startMono(d time.Duration, fire func()) *wait {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	return c.startOn(&c.mono, saturatingAdd(c.mono.value, d), fire)
}

func (c *Clock) startWall(t time.Time, fire func()) *wait {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	return c.startOn(&c.wall, t.Sub(c.start), fire)
}

func (c *Clock) startOn(h *hand, due time.Duration, fire func()) *wait {
	c.sequence++
	w := &wait{clock: c, hand: h, due: due, fire: fire, sequence: c.sequence}
	c.waits[w] = struct{}{}
	w.arm()
	return w
}

// arm sets the base's timer, unless the hand stands still short of due: then
// the thaw arms again. What is due already goes through the base as well, so
// that it runs on a goroutine of its own.
func (w *wait) arm() {
	w.armed++
	delay := w.hand.delay(w.due, w.clock.ppb)
	if w.hand.frozen && delay > 0 {
		w.timer = nil
		return
	}
	armed := w.armed
	w.timer = w.clock.base.AfterFunc(delay, func() { w.check(armed) })
}

func (w *wait) check(armed uint64) {
	c := w.clock
	c.mu.Lock()
	if _, waiting := c.waits[w]; !waiting || w.armed != armed {
		c.mu.Unlock()
		return
	}
	c.advance()
	if w.hand.value < w.due {
		w.arm()
		c.mu.Unlock()
		return
	}
	delete(c.waits, w)
	c.mu.Unlock()
	w.fire()
}

// rearm arms all waits anew, in an order that does not depend on a map's.
func (c *Clock) rearm() {
	byAge := func(a, b *wait) int { return cmp.Compare(a.sequence, b.sequence) }
	for _, w := range slices.SortedFunc(maps.Keys(c.waits), byAge) {
		if w.timer != nil {
			w.timer.Stop()
		}
		w.arm()
	}
}

// Stop keeps the wait from firing and tells whether that was in time.
func (w *wait) Stop() bool {
	c := w.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, waiting := c.waits[w]; !waiting {
		return false
	}
	delete(c.waits, w)
	if w.timer != nil {
		w.timer.Stop()
	}
	return true
}

// SleepFor waits until the monotonic clock has advanced by d. It is false when
// ctx ended first, or had ended before.
func (c *Clock) SleepFor(ctx context.Context, d time.Duration) bool {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err() == nil
	}
	done := make(chan struct{})
	return sleep(ctx, c.startMono(d, func() { close(done) }), done)
}

// SleepUntil waits until the wall clock shows t. It is false when ctx ended
// first, or had ended before.
func (c *Clock) SleepUntil(ctx context.Context, t time.Time) bool {
	if ctx.Err() != nil || c.Until(t) <= 0 {
		return ctx.Err() == nil
	}
	done := make(chan struct{})
	return sleep(ctx, c.startWall(t, func() { close(done) }), done)
}

// sleep prefers the context's end when both have come, so that a run in a
// bubble repeats itself.
func sleep(ctx context.Context, w *wait, done <-chan struct{}) bool {
	select {
	case <-done:
	case <-ctx.Done():
		w.Stop()
	}
	return ctx.Err() == nil
}

// AfterFunc calls f on a goroutine of its own when the monotonic clock has
// advanced by d.
func (c *Clock) AfterFunc(d time.Duration, f func()) clocks.StopTimer { return c.startMono(d, f) }

// NewTimer returns a timer that sends the wall clock's time once when the
// monotonic clock has advanced by d; at once if d <= 0.
func (c *Clock) NewTimer(d time.Duration) clocks.Timer {
	ch := make(chan time.Time, 1) // one value, so that sending never blocks
	t := &timer{ch: ch}
	t.wait = c.startMono(d, func() { ch <- c.Now() })
	return t
}

type timer struct {
	*wait
	ch <-chan time.Time
}

// Ch returns the channel, by a pointer as go-clocks has it.
func (t *timer) Ch() *<-chan time.Time { return &t.ch }
