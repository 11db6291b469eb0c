package core

import (
	"time"

	"github.com/vimeo/go-clocks"
)

// Stopwatch measures time as elections do: by the monotonic clock and the wall clock
// of this host at once, either of which may stand still or jump. It is for those who
// keep a lease on a RaceDecider by rules of their own. The oftener it is looked at, the more
// exact it is. It is safe for concurrent use.
type Stopwatch struct{ keeper *timekeeper }

// NewStopwatch returns a Stopwatch that begins now; a nil clock is the system's.
func NewStopwatch(clock clocks.Clock) *Stopwatch {
	if isNilPointer(clock) {
		clock = clocks.DefaultClock()
	}
	return &Stopwatch{newTimekeeper(clock)}
}

// Reading is one look at a Stopwatch.
type Reading struct {
	// AtMost is how much time may have passed since the beginning: the sum of what the
	// clock said that moved further from look to look. It decides when a lease of one's own is
	// over.
	AtMost time.Duration
	// AtLeast is how much has passed for sure, by both clocks: the sum of the smaller steps.
	// It decides when somebody else's lease is over.
	AtLeast time.Duration
	// Wall is the wall clock, without a monotonic part.
	Wall time.Time
}

// Look looks at the clocks.
func (s *Stopwatch) Look() Reading {
	now := s.keeper.sample()
	return Reading{AtMost: now.elapsed, AtLeast: now.sure, Wall: now.wall}
}
