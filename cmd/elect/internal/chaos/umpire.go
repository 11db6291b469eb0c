package chaos

import (
	"fmt"
	"time"
)

// Umpire judges events as they happen. It has no clock: time is what events say. All
// methods are for one goroutine at a time; the book has the lock.
type Umpire struct {
	Seed uint64
	Term time.Duration
	// Lag is by how much the harness was late in total between two moments; nil: never.
	Lag func(from, to time.Duration) time.Duration

	bouts      []*bout
	violations []Violation
	judged     int // verdicts about time
	voids      int // of them those that the harness was too late for
	excused    int // overlaps outside of what an election can bear
}

// Allowances for what is no fault of an election.
const (
	// startSlack: a leader is seen when its guard and its COMMAND have been started and
	// have connected, not when it has won.
	startSlack = time.Second
	// killSlack: a guard that goes on looks at the clocks, signals, and the kernel
	// takes the process apart.
	killSlack = time.Second
	// starvedPart: a harness that was late by that part of a term within one knows nothing.
	starvedPart = 10
)

// bout is what the umpire knows of one election.
type bout struct {
	history  history
	alive    map[int64]*reign // by token: those whose COMMAND is there
	newest   int64            // the highest token that began
	accepted int64            // the highest token that was accepted
	jumped   time.Duration
	act      Event // what was done last
	wait     *wait
	tally    tally
}

// reign is what was seen of one COMMAND.
type reign struct {
	token       int64
	began, last time.Duration
	records     int
	refused     int
	frozen      bool
	thawed      time.Duration // when it went on; 0: it was never frozen
	reported    bool
	outside     bool
	ending      Ending
}

// wait is for somebody to lead.
type wait struct {
	since time.Duration
	token int64 // at least
}

// NewUmpire returns an umpire for that many elections.
func NewUmpire(seed uint64, elections int, term time.Duration) *Umpire {
	u := &Umpire{Seed: seed, Term: term}
	for range elections {
		u.bouts = append(u.bouts, &bout{alive: make(map[int64]*reign), jumped: -time.Hour})
	}
	return u
}

// See takes in the next event of an election.
func (u *Umpire) See(e Event) {
	b := u.bouts[e.Election]
	b.history.add(e)
	u.Look(e.Election, e.At) // what comes too late has not come in time
	switch e.Kind {
	case Hired:
		b.tally.hired(e)
	case Began:
		u.began(b, e)
	case Accepted, Refused:
		u.record(b, e)
	case Gone:
		u.gone(b, e)
	case Frozen:
		if r := b.alive[e.Token]; r != nil {
			r.frozen = true
		}
	case Thawed:
		if r := b.alive[e.Token]; r != nil {
			r.frozen, r.thawed = false, e.At
		}
	case Did:
		b.act = e
		b.tally.did(e)
		if r := b.alive[e.Token]; r != nil {
			r.ending = e.Ending
		}
	case Jumped:
		b.jumped = e.At
		for _, r := range b.alive {
			r.outside = true
		}
	case Calm:
		b.wait = &wait{since: e.At, token: e.Token}
	}
}

// began judges the beginning of a reign: those before it must be over.
func (u *Umpire) began(b *bout, e Event) {
	if e.Token <= b.newest {
		u.violated(RuleTokens, e.Election, "a COMMAND began with token %d after one with token %d", e.Token, b.newest)
	}
	for _, old := range b.alive {
		u.overlap(b, old, e)
	}
	b.newest = max(b.newest, e.Token)
	r := &reign{token: e.Token, began: e.At, last: e.At, outside: e.At-b.jumped < u.Term}
	b.alive[e.Token] = r
	switch b.act.Ending {
	case Outage, Weather, Closing: // they are met by whoever leads meanwhile
		if b.wait == nil {
			r.ending = b.act.Ending
		}
	}
}

// record judges what the fenced resource did.
func (u *Umpire) record(b *bout, e Event) {
	r := b.alive[e.Token]
	if r == nil { // as slow as the news of its end may be, its records come before
		u.violated(RuleHarness, e.Election, "a record of token %d came, which is not there", e.Token)
		return
	}
	r.last = e.At
	if e.Kind == Refused {
		r.refused++
		b.tally.Refused++
		if e.Token >= b.accepted {
			u.violated(RuleFence, e.Election, "a record with token %d was refused, although none with a higher one was accepted before", e.Token)
		}
		return
	}
	r.records++
	b.tally.Accepted++
	if e.Token < b.accepted {
		u.violated(RuleStale, e.Election, "a record with token %d was accepted after one with token %d", e.Token, b.accepted)
	}
	b.accepted = max(b.accepted, e.Token)
	if w := b.wait; w != nil && e.Token >= w.token {
		u.judged++
		b.tally.led(b.act.Ending, e.At-w.since)
		b.wait = nil
	}
}

func (u *Umpire) gone(b *bout, e Event) {
	r := b.alive[e.Token]
	if r == nil {
		return
	}
	delete(b.alive, e.Token)
	b.tally.over(r)
}

// Waiting tells whether somebody has to lead and does not yet.
func (u *Umpire) Waiting(election int) bool { return u.bouts[election].wait != nil }

// Violations are what was violated so far.
func (u *Umpire) Violations() []Violation { return u.violations }

// rest ends the waiting for leaders: everybody is sent home.
func (u *Umpire) rest() {
	for _, b := range u.bouts {
		b.wait, b.act = nil, Event{Ending: Closing}
		for _, r := range b.alive {
			r.ending = Closing
		}
	}
}

// progress is how far it has come, on one line.
func (u *Umpire) progress(now time.Duration) string {
	var all tally
	for _, b := range u.bouts {
		all.add(b.tally)
	}
	line := fmt.Sprintf("%4.0f s  reigns %d", now.Seconds(), all.Reigns)
	for _, e := range endings() {
		line += fmt.Sprintf("  %s %d", e, all.Endings[e])
	}
	return line + fmt.Sprintf("  refused %d  void %d", all.Refused, u.voids)
}
