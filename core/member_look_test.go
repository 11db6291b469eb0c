package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// What proves a twin, as sequences of versions of the entry: leader, fencing token
// and election number. Answers may come out of order.
func TestTwinIsProvedByTwoRenewals(t *testing.T) {
	seen := func(id string, token int64, number entry.ElectionNumber) *entry.RaceEntry {
		return &entry.RaceEntry{LeaderID: id, FencingToken: token, ElectionNumber: number, Nonce: fmt.Sprint("n", number)}
	}
	held := seen("a", 1, 9)
	held.Held = true
	nameless := func(number entry.ElectionNumber) *entry.RaceEntry {
		return &entry.RaceEntry{LeaderID: "a", ElectionNumber: number}
	}
	for name, tc := range map[string]struct {
		entries []*entry.RaceEntry
		own     []string
		want    bool
	}{
		"one version":         {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 1, 5)}, nil, false},
		"one renewal":         {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 1, 6), seen("a", 1, 6)}, nil, false},
		"two renewals":        {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 1, 6), seen("a", 1, 7)}, nil, true},
		"two at once":         {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 1, 7)}, nil, true},
		"a late answer":       {[]*entry.RaceEntry{seen("a", 1, 6), seen("a", 1, 5), seen("a", 1, 6)}, nil, false},
		"late, then a second": {[]*entry.RaceEntry{seen("a", 1, 6), seen("a", 1, 5), seen("a", 1, 7)}, nil, true},
		"another reign":       {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 2, 8), seen("a", 2, 9)}, nil, false},
		"it renews as well":   {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 2, 8), seen("a", 2, 10)}, nil, true},
		"somebody else":       {[]*entry.RaceEntry{seen("b", 1, 5), seen("b", 1, 9)}, nil, false},
		"vacated":             {[]*entry.RaceEntry{seen("a", 1, 5), seen("", 1, 9)}, nil, false},
		"held":                {[]*entry.RaceEntry{seen("a", 1, 5), held}, nil, false},
		"no nonce":            {[]*entry.RaceEntry{nameless(5), nameless(6), nameless(7)}, nil, false},
		"our own":             {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 1, 6), seen("a", 1, 7)}, []string{"n5", "n6", "n7"}, false},
		"ours, then another":  {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 1, 6), seen("a", 1, 7)}, []string{"n5"}, false},
		"deleted, new number": {[]*entry.RaceEntry{seen("a", 1, 5), seen("a", 1, 0), seen("a", 1, 1)}, nil, false},
	} {
		ctx, end := context.WithCancelCause(context.Background())
		w := &twin{own: tc.own}
		w.watch("a", nil, end)
		for _, e := range tc.entries {
			w.look(e)
		}
		if got := errors.Is(context.Cause(ctx), ErrDuplicateMember); got != tc.want {
			t.Errorf("%s: proved %v (%v)", name, got, context.Cause(ctx))
		}
		end(nil)
	}
}

// What comes with a lost race counts like what a read shows.
func TestTwinLooksAtLostRaces(t *testing.T) {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	w := new(twin)
	w.watch("a", loser{5}, end)
	for _, number := range []entry.ElectionNumber{5, 6, 7} {
		if ctx.Err() != nil {
			t.Errorf("proved before number %d", number)
		}
		w.decider = loser{number}
		if _, err := w.WriteEntry(ctx, &entry.RaceEntry{Nonce: "ours"}); !errors.Is(err, ErrLostRace) {
			t.Errorf("the answer is %v", err)
		}
	}
	if err := context.Cause(ctx); !errors.Is(err, ErrDuplicateMember) || !strings.Contains(err.Error(), "the store mem://nightly holds") {
		t.Errorf("%v, want a proof that names the object", err)
	}
	for range 10 * maxOwn {
		_, _ = w.WriteEntry(ctx, &entry.RaceEntry{Nonce: "more"})
	}
	if len(w.own) != maxOwn {
		t.Errorf("%d nonces are kept", len(w.own))
	}
}

// loser loses every race to the member "a".
type loser struct{ number entry.ElectionNumber }

func (l loser) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	e := &entry.RaceEntry{LeaderID: "a", FencingToken: 1, ElectionNumber: l.number, Nonce: fmt.Sprint(l.number),
		TermLength: time.Second, TermExpiry: time.Unix(1, 0)}
	return nil, &LostRaceError{Current: e}
}

func (l loser) String() string { return "mem://nightly" }

func (l loser) ReadCurrent(context.Context) (*entry.RaceEntry, error) {
	return nil, errors.New("no answer")
}
