package runcmd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// story is what the election's events have told: why no reign began, and why one
// ended. core's own errors say what is proved, not what brought it about.
type story struct {
	mu      sync.Mutex
	leading bool

	// read and write are what the store said to the latest look, and to the latest
	// attempt to win, if that was no answer.
	read, write error

	// Of the reign: renewal is what the store said to the latest renewal, if that
	// was no confirmation. deleted, rubbish and successor are what was found in
	// the place of its entry.
	renewal   error
	deleted   bool
	rubbish   error
	successor *entry.RaceEntry
}

// hear takes an event in.
func (s *story) hear(e core.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Kind == core.EventElected:
		s.leading = true
		s.renewal, s.deleted, s.rubbish, s.successor = nil, false, nil, nil
	case e.Kind == core.EventEnded:
		s.leading = false
	case e.Kind == core.EventRenewed:
		s.renewal = nil
	case e.Kind == core.EventRequest:
		s.answered(e)
	case !s.leading: // what follows is about the reign
	case e.Kind == core.EventVanished:
		s.deleted = true
	case e.Kind == core.EventBadEntry:
		s.rubbish = e.Err
	case e.Kind == core.EventLeaderChanged && !e.Entry.Absent():
		found := e.Entry
		s.successor = &found
	}
}

func (s *story) answered(e core.Event) {
	if errors.Is(e.Err, context.Canceled) {
		return // we gave it up
	}
	err := e.Err
	if e.Outcome != core.OutcomeUnknown && e.Outcome != core.OutcomeBroken {
		err = nil
	}
	switch e.Op {
	case core.OpRead:
		s.read = err
	case core.OpAcquire:
		s.write = err
	case core.OpRenew:
		if s.leading && err != nil {
			s.renewal = err
		}
	}
}

// notTaken is what the store said to the latest attempt to win, if it left that
// unanswered and yet answers when it is read; or nil.
func (s *story) notTaken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read != nil {
		return nil
	}
	return s.write
}

// failed is what the latest renewal failed with; nil if it did not.
func (s *story) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewal
}

// found says what was stored in the place of the reign's entry.
func (s *story) found() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := s.successor; {
	case s.rubbish != nil:
		return fmt.Sprintf("something that is no entry replaced this reign's: %v", s.rubbish)
	case s.deleted:
		return "somebody deleted its entry"
	case e == nil:
		return "another entry replaced this reign's"
	case e.Vacant():
		return "somebody ended it in the store"
	case e.Held:
		return "somebody ended it in the store, and keeps the election closed in the name of " + cliutil.Name(e.LeaderID)
	default:
		return fmt.Sprintf("another entry replaced this reign's: %s leads with fencing token %d", cliutil.Name(e.LeaderID), e.FencingToken)
	}
}
