// Package book keeps the book of one candidate's reigns from what it tells in its
// events: whether it leads, and for how long the term lasts if nothing more is
// confirmed. It is for those who only hear events, and have no core.Leadership to
// ask; that one decides, this one shows.
package book

import (
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// Book is what was heard so far. Its zero value has heard nothing. It is not safe
// for concurrent use. Readings that it is given are all of one clock.
type Book struct {
	leading bool
	ended   reign // the last that ended
	current reign // the last that was confirmed
	token   int64 // the latest that was seen under this candidate's name
	term    time.Duration
	// anchor is a reading of the clock, and age how long before it the last
	// confirmed write was sent.
	anchor time.Time
	age    time.Duration

	// What became of this candidate's latest writes: when the one that was
	// stored was sent, or the first of those in a row whose answer did not say.
	sent    time.Time
	unclear bool
}

// reign tells reigns apart.
type reign struct {
	token int64
	known bool
}

// Note takes in an event that was heard at now.
func (b *Book) Note(e *core.Event, now time.Time) {
	switch e.Kind {
	case core.EventRequest:
		b.request(e)
	case core.EventElected, core.EventRenewed:
		// The end of a reign may overtake the news of its last renewal, or of its win.
		if this := (reign{e.Entry.FencingToken, true}); this != b.ended {
			b.confirm(e, this, now)
		}
	case core.EventEnded:
		b.ended = reign{e.Entry.FencingToken, true}
		b.leading = b.leading && b.ended != b.current
	case core.EventLeaderChanged:
		// Told before the request that showed it. It may be of a namesake, who has
		// ended the reign: so it says nothing about that.
		if e.Entry.LeaderID == e.LeaderID {
			b.token = e.Entry.FencingToken
		}
	}
}

func (b *Book) request(e *core.Event) {
	if e.Op != core.OpAcquire && e.Op != core.OpRenew {
		return
	}
	sent := e.Time.Add(-e.Latency)
	switch {
	case e.Outcome == core.OutcomeStored:
		b.sent, b.unclear = sent, false
	case !b.unclear && e.Outcome != core.OutcomeBroken:
		b.sent, b.unclear = sent, true
	}
}

func (b *Book) confirm(e *core.Event, this reign, now time.Time) {
	sent := b.sentAt(e)
	age := max(now.Round(0).Sub(sent), 0)
	if e.Entry.TermLength > 0 {
		b.term = e.Entry.TermLength
	}
	// Whatever was confirmed last counts from the latest sending that was confirmed.
	if !b.leading || this != b.current || age < b.Age(now) {
		b.anchor, b.age = now, age
	}
	b.leading, b.current, b.token, b.unclear = true, this, this.token, false
}

// sentAt is when the write that e confirms was sent, on the local wall clock.
func (b *Book) sentAt(e *core.Event) time.Time {
	v := &e.Entry
	if v.TermLength > 0 && (v.SentBy.IsZero() || v.TermExpiry.After(v.SentBy.Add(v.TermLength))) {
		return v.TermExpiry.Add(-v.TermLength).Round(0) // that was reckoned from it
	}
	// The expiry was reckoned from the store's time, which is ahead of this host's.
	if b.sent.IsZero() {
		return e.Time
	}
	return b.sent
}

// Leads tells whether the candidate has told of a reign, and of no end.
func (b *Book) Leads() bool { return b.leading }

// Token is the fencing token of the latest reign of this candidate; 0 before the first.
func (b *Book) Token() int64 { return b.token }

// Term is the length of the last term that this candidate won or renewed.
func (b *Book) Term() time.Duration { return b.term }

// Age is how long ago the last confirmed write of the reign was sent, by the wall
// clock or the monotonic one, whichever says more.
func (b *Book) Age(now time.Time) time.Duration { return b.age + Elapsed(b.anchor, now) }

// Left is what is left of the term, at least 0; 0 where nothing is led.
func (b *Book) Left(now time.Time) time.Duration {
	if !b.leading {
		return 0
	}
	return max(b.term-b.Age(now), 0)
}

// Elapsed is how much time has passed between two readings, by the wall clock or the
// monotonic one, whichever says more: one of them may have stood still.
func Elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)), 0)
}
