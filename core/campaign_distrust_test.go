package core_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// A store, or a proxy, that answers every write with "lost" although nothing
// else was stored must not be asked without a pause.
func TestCampaignLostToItsOwnBaseBacksOff(t *testing.T) {
	for _, current := range []bool{true, false} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			w.store.Lead("", term)
			lost := &core.LostRaceError{}
			if current {
				e := w.stored(t)
				lost.Current = &e
			}
			h.door.all(write, fault{kind: refuse, err: lost})
			h.WaitAtMost = 10 * term
			if _, err := h.Campaign(t.Context()); !errors.Is(err, core.ErrHeld) {
				t.Error(err)
			}
			writes := 0
			for _, c := range h.door.log() {
				if c.op == write {
					writes++
				}
			}
			if most := 10*3*2 + 10; writes > most { // a pause grows to RenewInterval, a third of the term
				t.Errorf("%d writes in ten terms, want %d at most", writes, most)
			}
		})
	}
}

// unvalidated is a decider that hands out whatever it is told to.
type unvalidated struct{ e entry.RaceEntry }

func (d unvalidated) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return nil, errors.New("must not be written")
}

func (d unvalidated) ReadCurrent(context.Context) (*entry.RaceEntry, error) {
	e := d.e
	return &e, nil
}

// An entry that cannot be one is never free, whoever forgot to validate it.
func TestCampaignBelievesNoInvalidEntry(t *testing.T) {
	for name, e := range map[string]entry.RaceEntry{
		"no term":        {LeaderID: "bob", Nonce: "n"},
		"negative term":  {LeaderID: "bob", Nonce: "n", TermLength: -time.Hour},
		"endless term":   {LeaderID: "bob", Nonce: "n", TermLength: 1<<63 - 1, TermExpiry: time.Unix(0, 0)},
		"never written":  {LeaderID: "bob", Nonce: "n", TermLength: time.Hour, ElectionNumber: entry.NoElections},
		"largest token":  {Nonce: "n", TermLength: time.Second, TermExpiry: time.Unix(0, 0), FencingToken: 1<<63 - 1},
		"without anonce": {LeaderID: "bob", TermLength: time.Second, TermExpiry: time.Unix(0, 0)},
	} {
		cfg := core.Config{LeaderID: "a", Decider: unvalidated{e}}
		if _, err := cfg.TryAcquire(t.Context()); !errors.Is(err, core.ErrBadEntry) {
			t.Errorf("%s: %v, want a bad entry", name, err)
		}
	}
}

// A store that hangs keeps nobody waiting for longer than WaitAtMost.
func TestCampaignWaitAtMostBoundsRequests(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.all(read, fault{kind: stuck, d: time.Hour})
		h.WaitAtMost = term / 10
		began := time.Now()
		if _, err := h.Campaign(t.Context()); err == nil || errors.Is(err, core.ErrHeld) {
			t.Errorf("%v: nobody was seen to lead", err)
		}
		if took := time.Since(began); took > term/10+time.Millisecond {
			t.Errorf("gave up after %v, want %v", took, term/10)
		}
	})
}

// goexit is a decider whose reads end their goroutine, as t.FailNow does.
type goexit struct{ core.RaceDecider }

func (goexit) ReadCurrent(context.Context) (*entry.RaceEntry, error) {
	runtime.Goexit()
	return nil, nil
}

func TestCampaignSurvivesGoexit(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		cfg := core.Config{LeaderID: "a", Decider: goexit{w.store}, TermLength: term}
		if _, err := cfg.TryAcquire(t.Context()); err == nil {
			t.Error("a read that never returned was answered")
		}
		h := w.host("b", nil)
		h.OnEvent = func(core.Event) { runtime.Goexit() }
		h.LeaderChanged = func(context.Context, entry.RaceEntry) { runtime.Goexit() }
		resign(t, h.win(t))
	})
}

// A reign that ended with its context is known to be over at once: the next
// call with the same Memory reclaims it.
func TestCampaignReclaimsAfterItsContextEnded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.Memory = new(core.Memory)
		h.ManualRenew, h.NoClockProof = true, true
		ctx, cancel := context.WithCancel(t.Context())
		l := h.winIn(t, ctx)
		cancel()
		<-l.Context().Done()
		ended := h.told(core.EventEnded) // waits until everything has come to rest
		if len(ended) != 1 {
			t.Errorf("%d reigns were told to be over", len(ended))
		}
		again, err := h.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again.Proof() != core.ProofReclaimed {
			t.Errorf("won by %v", again.Proof())
		}
		resign(t, again)
	})
}

// The end of an outer leadership is not the loss of the inner one.
func TestLeadNestedElections(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		outer := w.host("outer", nil).win(t)
		inner := w.host("inner", nil)
		inner.Decider = memory.NewDecider()
		l := inner.winIn(t, outer.Context())
		w.store.Lead("thief", term)
		<-outer.Context().Done()
		if !errors.Is(outer.Check(), core.ErrLeadershipLost) {
			t.Error(outer.Check())
		}
		<-l.Context().Done() // contexts tell their children after the rest of the world
		if err := l.Check(); err == nil || errors.Is(err, core.ErrLeadershipLost) || !errors.Is(err, context.Canceled) {
			t.Errorf("the inner leadership: %v", err)
		}
		resign(t, l)
	})
}

// ResignWithin bounds how long Acquire and RunAsLeader take to leave.
func TestResignWithin(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.ResignWithin = term / 10
		var ended time.Time
		err := h.RunAsLeader(t.Context(), func(context.Context, *core.Leadership) error {
			h.door.all(read, fault{kind: hang})
			h.door.all(write, fault{kind: hang})
			ended = time.Now()
			return nil
		})
		if !errors.Is(err, core.ErrNotResigned) {
			t.Error(err)
		}
		if took := time.Since(ended); took > term/10+2*time.Second {
			t.Errorf("left after %v", took)
		}
	})
}
