package httpleader

import (
	"context"
	"errors"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// sight is what this process has last seen of the election, from core's events.
type sight struct {
	entry    entry.RaceEntry
	since    time.Time // when this version was first seen
	answered time.Time // when the store last told what is stored
	bad      bool      // what is stored is not an entry
	known    bool      // the store has told anything so far
	err      error     // of the latest request, if it failed

	// leader ends when another leader, or another reign, is seen.
	leader context.Context
	change context.CancelCauseFunc
}

var errLeaderChanged = errors.New("httpleader: the leader has changed")

func newSight(now time.Time) sight {
	s := sight{entry: entry.RaceEntry{ElectionNumber: entry.NoElections}, since: now, answered: now}
	s.leader, s.change = context.WithCancelCause(context.Background())
	return s
}

// note takes in an event.
func (e *Election) note(ev core.Event) {
	now := e.clock.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &e.seen
	switch ev.Kind {
	case core.EventRequest:
		s.err = ev.Err
		switch ev.Outcome {
		case core.OutcomeRead, core.OutcomeStored, core.OutcomeLost:
			s.answered, s.known, s.bad, s.err = now, true, false, nil
		case core.OutcomeBadEntry:
			s.answered, s.known, s.bad = now, true, true
			s.saw(entry.RaceEntry{ElectionNumber: entry.NoElections}, now)
		}
	case core.EventVanished:
		s.saw(entry.RaceEntry{ElectionNumber: entry.NoElections}, now)
	case core.EventWaiting, core.EventElected, core.EventRenewed, core.EventResigned, core.EventLeaderChanged:
		s.saw(ev.Entry, now)
	}
}

// saw notes what is stored.
func (s *sight) saw(v entry.RaceEntry, now time.Time) {
	if v.ElectionNumber != s.entry.ElectionNumber || v.Nonce != s.entry.Nonce {
		s.since = now
	}
	if v.LeaderID != s.entry.LeaderID || v.FencingToken != s.entry.FencingToken {
		s.change(errLeaderChanged)
		s.leader, s.change = context.WithCancelCause(context.Background())
	}
	s.entry = v
}

// left is what the leader's term has left for all that is known here.
func (s *sight) left(now time.Time) time.Duration {
	if s.entry.Vacant() {
		return 0
	}
	return s.entry.TermLength - now.Sub(s.since)
}
