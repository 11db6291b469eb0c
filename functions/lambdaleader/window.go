package lambdaleader

import (
	"context"
	"time"
)

// forever is longer than anything lasts, and may be added to itself.
const forever = time.Duration(1) << 61

// window is the time that an invocation has, as of one look at the clock. What
// follows from it is decided here, without a clock.
type window struct {
	left   time.Duration // until the deadline of the invocation; forever without one
	margin time.Duration
	keep   bool // the leadership stays with the process: the deadline does not bound its term
}

// window looks at the clock. A deadline is a reading of the wall clock: the
// runtime makes it from the milliseconds since 1970 that the platform sent.
func (l *Leader) window(ctx context.Context) window {
	w := window{left: forever, margin: l.opts.Margin, keep: l.opts.Keep}
	if deadline, ok := ctx.Deadline(); ok {
		w.left = min(deadline.Sub(l.clock.Now()), forever)
	}
	return w
}

// room is how long the handler may run, if it began now.
func (w window) room() time.Duration { return w.left - w.margin }

// term is how long a term may be that is won after waiting for wait at most.
//
// The term counts from the write that wins, and core gives the read before that a
// quarter of the term at most. So five quarters of it have to fit between the end
// of the wait and Margin after the deadline.
//
// One that is kept may end later than that. But a request may take a quarter of
// the term, and so may core's last look when an attempt is given up: there has to
// be time for both.
func (w window) term(longest, wait time.Duration) time.Duration {
	if w.keep {
		return min(longest, 2*(w.room()-wait))
	}
	return min(longest, (w.left-wait+w.margin)/5*4)
}

// attempt is how long an attempt to win such a term may take, so that core's last
// look after giving it up is over when the handler would have to be.
func (w window) attempt(term time.Duration) time.Duration {
	return w.room() - min(term/4, 4*time.Second)
}

// renewal says when a term, of which held is left and which is renewed every
// interval, has to be renewed next: after wait, and for within. It is not
// ok if the term lasts as it is, until the handler has to be done and a little
// longer, or if a renewal would make it end more than Margin after the deadline.
func (w window) renewal(held, term, interval time.Duration) (wait, within time.Duration, ok bool) {
	enough := w.room() + w.margin/2
	latest := w.left + w.margin - term
	if w.keep {
		latest = forever
	}
	if held >= enough || latest <= 0 {
		return 0, 0, false
	}
	wait = interval - (term - held)
	if wait > latest-w.margin {
		// The last one: as soon as it suffices, so that there is time to repeat it.
		wait = enough - term
	}
	wait = max(wait, 0)
	return wait, latest - wait, true
}

// resignation is how long a resignation may take: there has to be time left for
// the runtime to send the handler's result.
func (w window) resignation() time.Duration { return w.left - w.margin/4 }
