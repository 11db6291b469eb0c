package core

import (
	"reflect"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"
)

// dualClock is implemented by clocks that can tell their monotonic and their
// wall reading apart. A time.Time hides both in one value that a test cannot
// forge; skewclock implements this. Any other Clock's Now serves for both.
type dualClock interface {
	Readings() (mono time.Duration, wall time.Time)
}

// instant is one look at the clocks.
type instant struct {
	// elapsed is the sum, over all samples so far, of the larger of the steps
	// that the two clocks made. It runs as fast as the faster of them, so a
	// freeze that stops one clock and then the other still shows. It decides
	// when a reign of our own is over.
	elapsed time.Duration
	// sure is the sum of the smaller of those steps. It decides when somebody
	// else's reign is over: neither a wall clock that jumps nor a monotonic clock
	// that stood still and catches up may hasten that.
	sure time.Duration
	// mono is the monotonic clock alone, by which this process waits.
	mono time.Duration
	// wall is the wall clock, without a monotonic part.
	wall time.Time
}

// timekeeper takes the instants of one process, so that all of them can be
// compared. Its lock is a leaf: nothing is called while it is held but the
// clock.
type timekeeper struct {
	clock clocks.Clock
	dual  dualClock // nil where clock's Now serves for both

	mu     sync.Mutex
	origin time.Time // for clocks that are not dual: where mono counts from
	last   instant
}

func newTimekeeper(clock clocks.Clock) *timekeeper {
	k := &timekeeper{clock: clock}
	k.dual, _ = clock.(dualClock)
	k.origin = clock.Now()
	k.last.mono, k.last.wall = k.readings()
	return k
}

func (k *timekeeper) readings() (time.Duration, time.Time) {
	if k.dual != nil {
		mono, wall := k.dual.Readings()
		return mono, wall.Round(0)
	}
	now := k.clock.Now()
	return now.Sub(k.origin), now.Round(0)
}

// sample looks at the clocks. Every sample makes elapsed more exact, and none
// can make it smaller.
func (k *timekeeper) sample() instant {
	k.mu.Lock()
	defer k.mu.Unlock()
	mono, wall := k.readings()
	k.last = instant{
		elapsed: later(k.last.elapsed, largerStep(k.last, mono, wall)),
		sure:    later(k.last.sure, smallerStep(k.last, mono, wall)),
		mono:    mono,
		wall:    wall,
	}
	return k.last
}

// largerStep is how much time may have passed since prev: what the clock that
// moved further says. A clock that went backwards says nothing.
func largerStep(prev instant, mono time.Duration, wall time.Time) time.Duration {
	step := max(wall.Sub(prev.wall), 0)
	if mono > prev.mono {
		step = max(step, later(mono, -prev.mono))
	}
	return step
}

// smallerStep is how much time has passed since prev by both clocks.
func smallerStep(prev instant, mono time.Duration, wall time.Time) time.Duration {
	if mono <= prev.mono {
		return 0
	}
	return max(min(later(mono, -prev.mono), wall.Sub(prev.wall)), 0)
}

// later is t+d for a d that may be so large that the sum has to stop at never.
func later(t, d time.Duration) time.Duration {
	if d > 0 && t > never-d {
		return never
	}
	return t + d
}

// sameClock tells whether two clocks are the same one, as far as Go can
// compare them.
func sameClock(a, b clocks.Clock) bool {
	if va, vb := reflect.ValueOf(a), reflect.ValueOf(b); !va.Comparable() || !vb.Comparable() {
		return va.Type() == vb.Type()
	}
	return a == b
}
