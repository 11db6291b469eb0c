package core

import (
	"context"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"
)

// TimeView is a point in time that one goroutine moves and others look at: the
// end of a term. It is safe for concurrent use. The zero TimeView is a time
// long past on the system's clock.
type TimeView struct {
	mu     sync.Mutex
	keeper *timekeeper
	value  time.Time
	end    time.Duration // on the keeper's elapsed scale
	// reign is the context whose end ends the view's future, if there is one:
	// it may end long before the next look at the clocks.
	reign context.Context
}

// NewTimeView returns a TimeView on clock (nil: the system's) that shows the
// zero time until it is set.
func NewTimeView(clock clocks.Clock) *TimeView {
	if isNilPointer(clock) {
		clock = clocks.DefaultClock()
	}
	return &TimeView{keeper: newTimekeeper(clock)}
}

// Clock returns the clock that the view compares with.
func (t *TimeView) Clock() clocks.Clock {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lockedKeeper().clock
}

// Get returns the time last set, as a reading of the wall clock. A wall clock
// that was set since does not move it: use ValueInFuture to decide anything.
func (t *TimeView) Get() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.value
}

// Set makes the view show the wall clock time v. How far away that is is
// fixed now, by the wall clock.
func (t *TimeView) Set(v time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.lockedKeeper().sample()
	t.value, t.end = v, later(now.elapsed, v.Sub(now.wall))
}

// ValueInFuture tells whether the time is still to come, by the sum of the
// larger steps of the monotonic and the wall clock: it is past as soon as
// either has moved that far, and sooner where they took turns.
func (t *TimeView) ValueInFuture() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reign != nil && t.reign.Err() != nil {
		return false
	}
	return t.lockedKeeper().sample().elapsed < t.end
}

// show sets both forms of the same instant.
func (t *TimeView) show(now instant, end time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value, t.end = now.wall.Add(end-now.elapsed), end
}

// expire makes the view show the past, if it shows the future.
func (t *TimeView) expire(now instant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.elapsed < t.end {
		t.value, t.end = now.wall, now.elapsed
	}
}

func (t *TimeView) lockedKeeper() *timekeeper {
	if t.keeper == nil {
		t.keeper = newTimekeeper(clocks.DefaultClock())
	}
	return t.keeper
}
