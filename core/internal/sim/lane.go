package sim

import (
	"context"
	"time"

	"github.com/vimeo/go-clocks"
)

// Every lane has nanoseconds of its own: nothing in one lane happens at the
// same instant as anything in another, and hardly ever do two things in the
// same lane. So the scheduler has no choice to make, and a run repeats.
const (
	lanes     = 64
	laneTurns = 1 << 10
	laneBlock = lanes * laneTurns
)

// lane is true time as one party of the run meets it. It is the base of a host's
// skewclock: every timer of the host comes due in the host's lane.
type lane struct {
	clocks.Clock
	number time.Duration
	// pauses are the times in which the party does not run: what would happen in
	// one happens right after it.
	pauses []span
}

// span is a time of the run, as of its beginning.
type span struct{ from, to time.Duration }

func (s span) holds(at time.Duration) bool { return at >= s.from && at < s.to }

// overlap is how much of s lies between from and to.
func (s span) overlap(from, to time.Duration) time.Duration {
	return max(min(s.to, to)-max(s.from, from), 0)
}

// genesis is when every bubble begins.
var genesis = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// trueTime is how long the run has lasted.
func trueTime() time.Duration { return time.Duration(time.Now().UnixNano() - genesis) }

// afterPause is how much later than the end of its pause a host goes on: what
// the judge does at that end comes before.
const afterPause = 4 * laneBlock

func newLane(number int, pauses []span) *lane {
	return &lane{Clock: clocks.DefaultClock(), number: time.Duration(number), pauses: pauses}
}

// delay is the time from now to an instant of the lane that is d away or a
// little more. Which one depends on what is asked and when, not on how many have
// asked before: that would be the scheduler's choice.
func (l *lane) delay(d time.Duration) time.Duration {
	now := trueTime()
	at := now + max(d, 0)
	if at < now { // never
		return d
	}
	for _, p := range l.pauses {
		if p.holds(at) {
			at = p.to + afterPause
		}
	}
	block := (at + laneBlock - 1) / laneBlock * laneBlock
	turn := time.Duration(mix(uint64(now)^mix(uint64(d))) % laneTurns)
	return block + turn*lanes + l.number - now
}

// AfterFunc is all that a skewclock needs of its base, besides Now.
func (l *lane) AfterFunc(d time.Duration, f func()) clocks.StopTimer {
	return time.AfterFunc(l.delay(d), f)
}

// SleepFor waits for d and then for the lane's next instant. It is false when
// ctx ended first, or had ended before.
func (l *lane) SleepFor(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	t := time.NewTimer(l.delay(d))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// until waits until the run has lasted for at.
func (l *lane) until(ctx context.Context, at time.Duration) bool {
	return l.SleepFor(ctx, at-trueTime())
}
