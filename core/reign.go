package core

import (
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// reign is the state of one leadership. It is a value without a lock, a clock
// or a store: everything that decides whether a leader still leads is here.
type reign struct {
	// current is the last version proved to be ours and stored. It is never
	// changed, only replaced.
	current *entry.RaceEntry
	// attempts are the writes on top of current without a known outcome.
	attempts []attempt
	// sent is when the write that is current was sent, and end when the term
	// that it granted is over, on the elapsed scale.
	sent instant
	end  time.Duration
	term time.Duration
	// over is why the reign has ended; nil while it lasts. It is final.
	over error
	// lost: another version was proved to be stored. Nothing is left to resign.
	lost bool
	// resigned: the store confirmed the end.
	resigned bool
}

func newReign(current *entry.RaceEntry, won attempt, term time.Duration) reign {
	return reign{current: current, sent: won.sent, end: won.sent.elapsed + term, term: term}
}

// check ends the reign if its time has passed, and returns why it is over.
func (r *reign) check(now instant) error {
	if r.over == nil && now.elapsed >= r.end {
		r.over = ErrTermExpired
	}
	return r.over
}

// finish ends the reign, unless it has ended.
func (r *reign) finish(now instant, why error) {
	if r.check(now) == nil {
		r.over = why
	}
}

// left is how much of the term is left.
func (r *reign) left(now instant) time.Duration { return r.end - now.elapsed }

// confirm notes that attempt i is stored, as version v. It extends the reign
// only if that has not ended: a renewal that was confirmed too late proves
// nothing about the time in between. Whatever else was sent on top of the old
// version is dead, because that version is no more.
func (r *reign) confirm(now instant, i int, v *entry.RaceEntry) error {
	a := r.attempts[i]
	r.current = v
	r.attempts = r.attempts[:0]
	if a.vacates {
		r.resigned = true
		return r.check(now)
	}
	if err := r.check(now); err != nil {
		return err
	}
	r.sent = a.sent
	r.end = max(r.end, a.sent.elapsed+r.term)
	return r.check(now)
}

// replaced notes that something else is stored now.
func (r *reign) replaced(now instant) {
	r.lost = true
	r.attempts = nil
	r.finish(now, ErrLeadershipLost)
}

// nonces are all those that this reign may be stored under.
func (r *reign) nonces() []string {
	all := []string{r.current.Nonce}
	for _, a := range r.attempts {
		all = append(all, a.nonce)
	}
	return all
}
