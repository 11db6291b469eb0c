package k8slock

import (
	"sync"
	"time"

	"github.com/vimeo/go-clocks"
)

// dualClock is a clock that tells its two readings apart (core/skewclock does).
type dualClock interface {
	Readings() (mono time.Duration, wall time.Time)
}

// instant is one look at the clocks, as core has it: elapsed adds up the larger
// steps of both and is for one's own lease; sure adds up the smaller ones and is for
// somebody else's.
type instant struct {
	elapsed, sure time.Duration
	wall          time.Time
}

// timekeeper adds the steps up. It is safe for concurrent use.
type timekeeper struct {
	clock  clocks.Clock
	origin time.Time

	mu   sync.Mutex
	mono time.Duration
	last instant
}

func newTimekeeper(clock clocks.Clock) *timekeeper {
	k := &timekeeper{clock: clock, origin: clock.Now()}
	k.mono, k.last.wall = k.readings()
	return k
}

func (k *timekeeper) readings() (time.Duration, time.Time) {
	if dual, ok := k.clock.(dualClock); ok {
		mono, wall := dual.Readings()
		return mono, wall.Round(0)
	}
	now := k.clock.Now()
	return now.Sub(k.origin), now.Round(0)
}

func (k *timekeeper) look() instant {
	k.mu.Lock()
	defer k.mu.Unlock()
	mono, wall := k.readings()
	a, b := mono-k.mono, wall.Sub(k.last.wall)
	k.mono = mono
	k.last = instant{
		elapsed: k.last.elapsed + max(a, b, 0),
		sure:    k.last.sure + max(min(a, b), 0),
		wall:    wall,
	}
	return k.last
}
