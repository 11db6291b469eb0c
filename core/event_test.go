package core

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core/entry"
)

// TestEventNames pins what logs, metrics and timelines call things.
func TestEventNames(t *testing.T) {
	kinds := []string{"request", "waiting", "elected", "renewed", "ended", "resigned",
		"not-resigned", "leader-changed", "bad-entry", "vanished", "clock-offset", "missed", "EventKind(12)"}
	for i, want := range kinds {
		k := EventKind(i)
		b, err := json.Marshal(k)
		if k.String() != want || err != nil || string(b) != `"`+want+`"` {
			t.Errorf("EventKind(%d) is %q, in JSON %s (%v); want %q", i, k, b, err, want)
		}
	}
	named := map[EventKind]string{EventRequest: "request", EventWaiting: "waiting", EventElected: "elected",
		EventRenewed: "renewed", EventEnded: "ended", EventResigned: "resigned", EventNotResigned: "not-resigned",
		EventLeaderChanged: "leader-changed", EventBadEntry: "bad-entry", EventVanished: "vanished", EventClockOffset: "clock-offset", EventMissed: "missed"}
	for k, want := range named {
		if k.String() != want {
			t.Errorf("%d is %q, want %q", int(k), k, want)
		}
	}
	if len(named) != len(eventKinds) {
		t.Errorf("%d kinds, %d names", len(named), len(eventKinds))
	}
	for o, want := range map[Op]string{OpRead: "read", OpAcquire: "acquire", OpRenew: "renew", OpResign: "resign", 4: "Op(4)", -1: "Op(-1)"} {
		b, err := json.Marshal(o)
		if o.String() != want || err != nil || string(b) != `"`+want+`"` {
			t.Errorf("Op(%d) is %q, in JSON %s (%v); want %q", int(o), o, b, err, want)
		}
	}
	if EventKind(-1).String() != "EventKind(-1)" {
		t.Error(EventKind(-1))
	}
	// As keys of a JSON object, which is how counters are printed.
	b, err := json.Marshal(map[Proof]int{ProofStoreTime: 1})
	if err != nil || string(b) != `{"store-time":1}` {
		t.Errorf("%s, %v", b, err)
	}
}

// TestErrorsAreFoundAndRead: each typed error Is its sentinel and no other one,
// and says what a person needs.
func TestErrorsAreFoundAndRead(t *testing.T) {
	sentinels := []error{ErrLostRace, ErrBroken, ErrBadEntry, ErrInvalidConfig, ErrHeld, ErrLeadershipLost, ErrTermExpired, ErrResigned, ErrNotResigned}
	lost := &LostRaceError{Current: &entry.RaceEntry{LeaderID: "winner", ElectionNumber: 8}, Err: fs.ErrExist}
	for _, tc := range []struct {
		err  error
		is   error
		says []string
	}{
		{lost, ErrLostRace, []string{"winner", "8", fs.ErrExist.Error()}},
		{&LostRaceError{}, ErrLostRace, []string{ErrLostRace.Error()}},
		{&LostRaceError{Current: &entry.RaceEntry{ElectionNumber: entry.NoElections}}, ErrLostRace, nil},
		{&HeldError{Current: entry.RaceEntry{LeaderID: "other", FencingToken: 42}, RetryAfter: 1500e6, Reason: "why"}, ErrHeld, []string{"other", "42", "1.5s", "why"}},
		{&HeldError{Current: foreignLeads(60e9), RetryAfter: 1500e6, Reason: "why"}, ErrHeld, []string{`held by "old" (an entry of peer/library); a proof`}},
		{&HeldError{Current: entry.RaceEntry{ElectionNumber: entry.NoElections}, Reason: "why"}, ErrHeld, []string{"why"}},
	} {
		for _, s := range sentinels {
			if errors.Is(tc.err, s) != (s == tc.is) {
				t.Errorf("%v: Is %v: %v", tc.err, s, errors.Is(tc.err, s))
			}
		}
		for _, want := range tc.says {
			if !strings.Contains(tc.err.Error(), want) {
				t.Errorf("%q does not say %q", tc.err, want)
			}
		}
	}
	if !errors.Is(lost, fs.ErrExist) {
		t.Error("the store's own error is lost")
	}
	for i, a := range sentinels {
		for j, b := range sentinels {
			if errors.Is(a, b) != (i == j) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
}
