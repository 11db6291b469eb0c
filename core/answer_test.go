package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/cloudelect/cloudelect/core/entry"
)

// foreignLost is a decider's own error type, as the contract allows it.
type foreignLost struct{}

func (foreignLost) Error() string  { return "precondition failed" }
func (foreignLost) FailedAcquire() {}

func TestWriteOutcome(t *testing.T) {
	lost := &LostRaceError{Err: errors.New("412")}
	broken := fmt.Errorf("denied: %w", ErrBroken)
	for _, tc := range []struct {
		name string
		tok  entry.LeaderToken
		err  error
		want Outcome
	}{
		{"a token", undatedTok{}, nil, OutcomeStored},
		{"no token: what was written cannot be renewed", nil, nil, OutcomeUnknown},
		{"lost", nil, lost, OutcomeLost},
		{"lost, with a token", undatedTok{}, lost, OutcomeLost},
		{"lost, wrapped", nil, fmt.Errorf("store: %w", lost), OutcomeLost},
		{"lost, joined", nil, errors.Join(errors.New("first"), lost), OutcomeLost},
		{"lost, of a type of its own", nil, foreignLost{}, OutcomeLost},
		{"the sentinel alone is no proof", nil, ErrLostRace, OutcomeUnknown},
		{"the sentinel wrapped is no proof", nil, fmt.Errorf("x: %w", ErrLostRace), OutcomeUnknown},
		{"broken", nil, ErrBroken, OutcomeBroken},
		{"broken, wrapped", undatedTok{}, broken, OutcomeBroken},
		{"broken, joined", nil, errors.Join(errors.New("first"), broken), OutcomeBroken},
		{"lost and broken: not stored either way, and lost is what to look after", nil, errors.Join(broken, lost), OutcomeLost},
		{"lost because broken", nil, &LostRaceError{Err: broken}, OutcomeLost},
		{"anything else", undatedTok{}, errors.New("503"), OutcomeUnknown},
		{"cut off", nil, context.DeadlineExceeded, OutcomeUnknown},
		{"cancelled", nil, context.Canceled, OutcomeUnknown},
		{"given up", nil, &noAnswerError{}, OutcomeUnknown},
		{"a bad entry says nothing about a write", nil, ErrBadEntry, OutcomeUnknown},
	} {
		if got := writeOutcome(tc.tok, tc.err); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestReadOutcome(t *testing.T) {
	valid := otherLeads()
	e := &valid
	for _, tc := range []struct {
		name string
		e    *entry.RaceEntry
		err  error
		want Outcome
	}{
		{"an entry", e, nil, OutcomeRead},
		{"neither", nil, nil, OutcomeUnknown},
		{"not validated by its decider", &entry.RaceEntry{LeaderID: "bob"}, nil, OutcomeBadEntry},
		{"somebody leads where nothing is stored", &entry.RaceEntry{LeaderID: "bob", ElectionNumber: entry.NoElections}, nil, OutcomeBadEntry},
		{"nothing stored", noEntry(), nil, OutcomeRead},
		{"bad", e, ErrBadEntry, OutcomeBadEntry},
		{"bad, wrapped, without its token", nil, fmt.Errorf("x: %w", ErrBadEntry), OutcomeBadEntry},
		{"broken", nil, fmt.Errorf("x: %w", ErrBroken), OutcomeBroken},
		{"bad and broken: it was read", e, errors.Join(ErrBroken, ErrBadEntry), OutcomeBadEntry},
		{"anything else", e, errors.New("503"), OutcomeUnknown},
		{"lost means nothing here", nil, &LostRaceError{}, OutcomeUnknown},
		{"cut off", nil, context.DeadlineExceeded, OutcomeUnknown},
	} {
		if got := readOutcome(tc.e, tc.err); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestStand compares all that may be stored with all that may have been sent.
func TestStand(t *testing.T) {
	nobody := &entry.RaceEntry{ElectionNumber: entry.NoElections}
	base := &entry.RaceEntry{LeaderID: "other", ElectionNumber: 4, Nonce: "base"}
	vacant := &entry.RaceEntry{ElectionNumber: 4, Nonce: "base"}
	ours := &entry.RaceEntry{LeaderID: "me", ElectionNumber: 5, Nonce: "b"}
	foreign := &entry.RaceEntry{LeaderID: "third", ElectionNumber: 5, Nonce: "theirs"}
	sent := []attempt{{nonce: "a"}, {nonce: "b"}, {nonce: "c", vacates: true}}
	for _, tc := range []struct {
		name         string
		attempts     []attempt
		base, stored *entry.RaceEntry
		want         standing
	}{
		{"one of ours", sent, base, ours, standingOurs},
		{"one of ours, on nothing", sent, nobody, ours, standingOurs},
		{"our resignation", sent, base, &entry.RaceEntry{ElectionNumber: 5, Nonce: "c"}, standingOurs},
		{"ours, and taken by no other sign", sent, base, &entry.RaceEntry{LeaderID: "third", ElectionNumber: 90, Nonce: "a"}, standingOurs},
		{"the base", sent, base, base, standingBase},
		{"the base, read again", sent, base, &entry.RaceEntry{LeaderID: "other", ElectionNumber: 4, Nonce: "base", Token: datedTok{noon}}, standingBase},
		{"a vacant base", sent, vacant, vacant, standingBase},
		{"still nothing", sent, nobody, nobody, standingBase},
		{"still nothing, nothing sent", nil, nobody, nobody, standingBase},
		{"the base, nothing sent", nil, base, base, standingBase},
		{"another's", sent, base, foreign, standingForeign},
		{"another's, on nothing", sent, nobody, foreign, standingForeign},
		{"the base is gone", sent, base, nobody, standingForeign},
		{"the base's number, another's nonce", sent, base, &entry.RaceEntry{LeaderID: "other", ElectionNumber: 4, Nonce: "x"}, standingForeign},
		{"the base's nonce, another number", sent, base, &entry.RaceEntry{LeaderID: "other", ElectionNumber: 5, Nonce: "base"}, standingForeign},
		{"ours, but never sent", nil, base, ours, standingForeign},
		{"nothing, with an attempt without a nonce", []attempt{{}}, nobody, nobody, standingBase},
	} {
		if got := stand(tc.attempts, tc.base, tc.stored); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestLostCurrent(t *testing.T) {
	winner := otherLeads()
	e := &winner
	for name, tc := range map[string]struct {
		err  error
		want *entry.RaceEntry
	}{
		"none":                {nil, nil},
		"another error":       {errors.New("503"), nil},
		"of a foreign type":   {foreignLost{}, nil},
		"without the entry":   {&LostRaceError{}, nil},
		"with it":             {&LostRaceError{Current: e}, e},
		"wrapped and joined":  {errors.Join(ErrBroken, fmt.Errorf("x: %w", &LostRaceError{Current: e})), e},
		"not validated":       {&LostRaceError{Current: &entry.RaceEntry{LeaderID: "bob"}}, nil},
		"inside a lost error": {&LostRaceError{Err: &LostRaceError{Current: e}}, nil},
	} {
		if got := lostCurrent(tc.err); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestOutcomeNames(t *testing.T) {
	for i, want := range []string{"unknown", "stored", "lost", "broken", "read", "bad-entry", "unknown"} {
		o := Outcome(i)
		if o.String() != want {
			t.Errorf("Outcome(%d) is %q, want %q", i, o, want)
		}
		if b, err := json.Marshal(o); err != nil || string(b) != `"`+want+`"` {
			t.Errorf("Outcome(%d) in JSON is %s, %v", i, b, err)
		}
	}
}
