// Package skewclock is the clock of a host that is not right: its wall clock is
// off, both its clocks run fast or slow, either of them jumps or stands still.
// It is laid over a base clock, whose time is taken to be the true one.
//
// It exists because time.Time hides a monotonic and a wall reading in one value
// that nobody can forge, and an election has to be tested on hosts where the
// two disagree: Readings gives out both. It works over any clocks.Clock; in a
// testing/synctest bubble use clocks.DefaultClock() as the base.
package skewclock

import (
	"sync"
	"time"

	"github.com/vimeo/go-clocks"
)

// Options describe a clock at its start. The zero value is a clock that agrees
// with its base.
type Options struct {
	// Offset is how far the wall clock is ahead of the base's, at first.
	Offset time.Duration
	// Rate is how many seconds pass on this host in one true second: 1.02 is a
	// host whose clocks run 2 % fast. 0 is 1. See SetRate for its limits.
	Rate float64
	// Mono is the monotonic clock's first reading; its origin means nothing.
	Mono time.Duration
}

// Clock is a clocks.Clock with a monotonic and a wall clock of its own. It is
// safe for concurrent use. Relative waits run on the monotonic clock: they are
// due when it has advanced by their length, so a rate scales them and a frozen
// clock stops them. Absolute ones (Until, SleepUntil, ContextWithDeadline) run
// on the wall clock, jumps included.
type Clock struct {
	base  clocks.Clock
	start time.Time // what the wall clock's reading counts from

	mu       sync.Mutex
	anchor   time.Time // the base's time up to which the hands were moved
	ppb      uint64    // rate in parts per billion
	mono     hand
	wall     hand
	waits    map[*wait]struct{}
	sequence uint64
}

var _ clocks.Clock = (*Clock)(nil)

// New returns a clock over base that starts as opts say; nil is the zero Options.
func New(base clocks.Clock, opts *Options) *Clock {
	if opts == nil {
		opts = &Options{}
	}
	rate := opts.Rate
	if rate == 0 {
		rate = 1
	}
	now := base.Now()
	return &Clock{
		base: base, anchor: now, ppb: partsPerBillion(rate),
		start: now.Round(0).Add(opts.Offset), // Round strips the base's monotonic reading
		mono:  hand{value: opts.Mono},
		waits: map[*wait]struct{}{},
	}
}

// Readings returns both clocks at one instant. The wall time has no monotonic part.
func (c *Clock) Readings() (mono time.Duration, wall time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	return c.mono.value, c.start.Add(c.wall.value)
}

// Now returns the wall clock, without a monotonic part.
func (c *Clock) Now() time.Time {
	_, wall := c.Readings()
	return wall
}

// Until returns how long the wall clock has to go until it shows t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Step makes the wall clock jump, forwards or, with a negative d, backwards.
// The monotonic clock does not notice.
func (c *Clock) Step(d time.Duration) {
	c.change(func() { c.wall.value = saturatingAdd(c.wall.value, d) })
}

// SetRate changes how fast both clocks run from now on. It is rounded to parts
// per billion and kept within a thousandth and a thousandfold.
func (c *Clock) SetRate(rate float64) {
	ppb := partsPerBillion(rate)
	c.change(func() { c.ppb = ppb })
}

// FreezeMono stops the monotonic clock, and with it every relative wait, as a
// suspended machine does. The wall clock goes on.
func (c *Clock) FreezeMono() { c.change(c.mono.freeze) }

// ThawMono lets the monotonic clock go on: from where it stopped, or with
// catchUp from where it would be if it had never stopped.
func (c *Clock) ThawMono(catchUp bool) { c.change(func() { c.mono.thaw(catchUp) }) }

// FreezeWall stops the wall clock. The monotonic clock goes on.
func (c *Clock) FreezeWall() { c.change(c.wall.freeze) }

// ThawWall lets the wall clock go on: from where it stopped, or with catchUp
// from where it would be if it had never stopped, as if it had been set right.
func (c *Clock) ThawWall(catchUp bool) { c.change(func() { c.wall.thaw(catchUp) }) }

// change applies f to the clocks as they are now, and arms every wait anew,
// since what they had computed is no longer true.
func (c *Clock) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	f()
	c.rearm()
}

// advance moves both hands to the base's present. True time that went backwards
// (a fake base can) moves nothing.
func (c *Clock) advance() {
	now := c.base.Now()
	if elapsed := now.Sub(c.anchor); elapsed > 0 {
		c.mono.move(elapsed, c.ppb)
		c.wall.move(elapsed, c.ppb)
	}
	c.anchor = now
}
