package core_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// An entry that was seen is gone: somebody deleted it, maybe under a leader.
// No proof about what is no more there counts. The longest term that was seen
// passes first, and neither numbers nor tokens start again.
func TestCampaignVanishedEntry(t *testing.T) {
	for _, store := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			if store {
				w.tellTime(0)
			}
			// b's fencing token is far above the store's time.
			old := w.store.Lead("b", 3*term)
			old.FencingToken, old.ElectionNumber = 1<<40, 77
			w.store.Plant(old)
			h := w.host("a", nil)
			out := w.campaign(t.Context(), h)
			time.Sleep(term / 2)
			w.store.Delete()
			gone := time.Now()
			r := <-out
			if r.err != nil {
				t.Fatal(r.err)
			}
			waited := r.at.Sub(gone)
			if least := 3*term + 3*term/20; waited < least || waited > least+2*poll+time.Second {
				t.Errorf("elected %v after the entry vanished, want %v", waited, least)
			}
			if e := r.Entry(); e.FencingToken != 1<<40+1 || e.ElectionNumber != 78 || r.Proof() != core.ProofObserved {
				t.Errorf("token %d, number %d, by %v", e.FencingToken, e.ElectionNumber, r.Proof())
			}
			if n := len(h.told(core.EventVanished)); n != 1 {
				t.Errorf("told %d times that it vanished", n)
			}
			resign(t, r.Leadership)
		})
	}
}

// The same for a reign of one's own: the next token is higher.
func TestCampaignOwnEntryVanished(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.Memory = new(core.Memory)
		l := h.win(t)
		time.Sleep(term)
		w.store.Delete()
		<-l.Context().Done()
		gone := time.Now()
		next := h.win(t)
		if waited := time.Since(gone); waited < term {
			t.Errorf("elected again after %v", waited)
		}
		if next.FencingToken() != l.FencingToken()+1 {
			t.Errorf("token %d after %d", next.FencingToken(), l.FencingToken())
		}
		resign(t, next)
	})
}

// Where nothing was ever seen the first token is the store's time, so that even
// a fresh process gets a higher one than the reigns of a deleted entry had.
func TestCampaignFirstToken(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.host("a", nil).win(t)
		if l.FencingToken() != 1 {
			t.Errorf("without the store's time the first token is %d, want 1", l.FencingToken())
		}
		resign(t, l)
	})
	bubble(t, func(t *testing.T, w *world) {
		clock := w.tellTime(time.Hour)
		var last int64
		for range 5 {
			time.Sleep(time.Second)
			l := w.host("a", nil).win(t)
			if now := clock.Now().Unix(); l.FencingToken() != now || l.FencingToken() <= last {
				t.Errorf("the first token is %d after %d, want the store's time %d", l.FencingToken(), last, now)
			}
			last = l.FencingToken()
			resign(t, l)
			w.store.Delete()
		}
	})
}

// What is not an entry is never free. It blocks until a person has looked at
// it, and says so; nothing is written over it.
func TestCampaignBadEntry(t *testing.T) {
	for _, raw := range []string{"", "rubbish", "{}", `{"version":2,"leader_id":"x"}`, "[]", "\xff\xfe"} {
		t.Run(raw, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.store.PlantRaw([]byte(raw))
				h := w.host("a", nil)
				h.Reclaim = true
				if l, err := h.TryAcquire(t.Context()); l != nil || !errors.Is(err, core.ErrBadEntry) {
					t.Errorf("TryAcquire = %v, %v; want ErrBadEntry", l, err)
				}
				h.WaitAtMost = 20 * term
				l, err := h.Campaign(t.Context())
				if l != nil || !errors.Is(err, core.ErrHeld) || !errors.Is(err, core.ErrBadEntry) {
					t.Errorf("Campaign = %v, %v; want ErrHeld and ErrBadEntry", l, err)
				}
				if !strings.Contains(err.Error(), "operator") {
					t.Errorf("%q does not say who has to do something", err)
				}
				if len(h.told(core.EventBadEntry)) == 0 {
					t.Error("nobody was told")
				}
				if string(w.store.Raw()) != raw {
					t.Errorf("%q is stored now", w.store.Raw())
				}
				h.door.wantRequests(t, "campaigning for what is no entry", len(h.door.log()), 0)
			})
		})
	}
}

// An operator who breaks it lets the campaign go on.
func TestCampaignBadEntryIsBroken(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.PlantRaw([]byte("rubbish"))
		h := w.host("a", nil)
		out := w.campaign(t.Context(), h)
		time.Sleep(5 * term)
		w.store.Lead("", term)
		r := <-out
		if r.err != nil {
			t.Fatal(r.err)
		}
		resign(t, r.Leadership)
	})
}

// HeldError says when to come back, and means it: for whoever keeps a Memory
// and comes then the election is free, if nobody wrote in between.
func TestCampaignRetryAfterIsHonest(t *testing.T) {
	for _, c := range []struct {
		name  string
		store bool
		plant func(w *world)
		host  func(h *host)
		skew  *skewclock.Options
	}{
		{name: "by observation", plant: func(w *world) { w.store.Lead("b", term) }, host: func(h *host) { h.NoClockProof = true }},
		{name: "by the clock", plant: func(w *world) { w.store.Lead("b", term) }},
		{name: "by the clock, a fast one", plant: func(w *world) { w.store.Lead("b", term) }, skew: &skewclock.Options{Offset: 3 * time.Second}},
		{name: "by the store's time", store: true, plant: func(w *world) { w.store.Lead("b", term) }},
		{name: "by the store's time, a day off", store: true, plant: func(w *world) { w.store.Lead("b", term) }, skew: &skewclock.Options{Offset: 24 * time.Hour}},
		{name: "vanished", plant: func(w *world) { w.store.Lead("b", term) }, host: func(h *host) {
			_, _ = h.TryAcquire(context.Background())
			h.door.RaceDecider.(interface{ Delete() }).Delete()
		}},
	} {
		for ms := range time.Duration(4) {
			t.Run(fmt.Sprintf("%s/%d", c.name, ms), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					if c.store {
						w.tellTime(0)
					}
					time.Sleep(ms * 333 * time.Millisecond)
					c.plant(w)
					h := w.host("a", c.skew)
					h.Memory = new(core.Memory)
					if c.host != nil {
						c.host(h)
					}
					time.Sleep(ms * 411 * time.Millisecond)
					l, err := h.TryAcquire(t.Context())
					held := wantHeld(t, l, err)
					if held.RetryAfter <= 0 || held.RetryAfter > 2*term {
						t.Fatalf("RetryAfter %v", held.RetryAfter)
					}
					time.Sleep(held.RetryAfter)
					l, err = h.TryAcquire(t.Context())
					if err != nil {
						t.Fatalf("after RetryAfter %v: %v", held.RetryAfter, err)
					}
					resign(t, l)
				})
			})
		}
	}
}

// Reclaim: whoever bore this name before is gone; its term need not pass. It is
// for one's own name only.
func TestCampaignReclaim(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("a", term)
		h := w.host("a", nil)
		l, err := h.TryAcquire(t.Context())
		wantHeld(t, l, err)
		h.Reclaim = true
		l, err = h.TryAcquire(t.Context())
		if err != nil || l.Proof() != core.ProofReclaimed || l.FencingToken() != 2 {
			t.Fatalf("TryAcquire with Reclaim: %v", err)
		}
		w.store.Lead("aa", term)
		l, err = h.TryAcquire(t.Context())
		wantHeld(t, l, err)
	})
}

// The ctx given to Campaign spans the reign: a function's deadline ends both.
func TestCampaignContext(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := h.Campaign(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("Campaign = %v", err)
		}
		h.door.wantRequests(t, "a campaign that has ended", 0, 0)
		// One that ends while the store is silent says what the store said.
		h.door.all(read, fault{kind: refuse})
		ctx, cancel := context.WithTimeout(t.Context(), term)
		defer cancel()
		if _, err := h.Campaign(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errNet) {
			t.Errorf("Campaign = %v, want the context's error and the store's", err)
		}
	})
}

// A broken store ends a campaign at once, with the store's words.
func TestCampaignBroken(t *testing.T) {
	denied := fault{kind: refuse, err: fmt.Errorf("%w: storage.objects.get is denied", core.ErrBroken)}
	for _, o := range []op{read, write} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			h.door.all(o, denied)
			for _, f := range []func(context.Context) (*core.Leadership, error){h.Campaign, h.TryAcquire} {
				if l, err := f(t.Context()); l != nil || !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "denied") {
					t.Errorf("%v, %v; want ErrBroken", l, err)
				}
			}
		})
	}
}

// TryAcquire makes one attempt and does not wait.
func TestCampaignTryAcquire(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.then(read, fault{kind: refuse})
		began := time.Now()
		if l, err := h.TryAcquire(t.Context()); l != nil || !errors.Is(err, errNet) {
			t.Errorf("TryAcquire = %v, %v; want the store's error", l, err)
		}
		h.door.then(write, fault{kind: refuse})
		if l, err := h.TryAcquire(t.Context()); l != nil || !errors.Is(err, errNet) {
			t.Errorf("TryAcquire = %v, %v; want the store's error", l, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		l, err := h.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * term)
		wantLeading(t, l) // it renews like any other
		second, err := h.TryAcquire(t.Context())
		wantHeld(t, second, err) // not even the leader is elected twice
		wantLeading(t, l)
		resign(t, l)
	})
}

// ManualRenew: nothing renews but the caller.
func TestCampaignManualRenew(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.RenewInterval = 9 * term // not looked at
		l := h.lead(t)
		for range 10 {
			time.Sleep(term - time.Second)
			if err := l.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		h.door.wantRequests(t, "ten renewals by hand", 1, 11)
		time.Sleep(term)
		wantOver(t, l, core.ErrTermExpired)
	})
}

// Of many candidates one wins; when it is gone, the next, and so on.
func TestCampaignManyCandidates(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const n = 20
		won := make(chan *core.Leadership, n)
		for i := range n {
			h := w.host(fmt.Sprintf("h%02d", i), nil)
			w.run(func() {
				l, err := h.Campaign(t.Context())
				if err != nil {
					t.Error(err)
				}
				won <- l
			})
		}
		var last int64
		for range n {
			l := <-won
			if l.FencingToken() <= last {
				t.Errorf("token %d after %d", l.FencingToken(), last)
			}
			last = l.FencingToken()
			time.Sleep(time.Second)
			if len(won) > 0 {
				t.Error("two leaders")
			}
			wantLeading(t, l)
			resign(t, l)
		}
	})
}

// A Memory belongs to one clock.
func TestCampaignMemoryOfAnotherClock(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.Memory = new(core.Memory)
		resign(t, h.win(t))
		other := w.host("a", nil)
		other.Memory = h.Memory
		if _, err := other.TryAcquire(t.Context()); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("TryAcquire = %v, want ErrInvalidConfig", err)
		}
	})
}

// A Memory lets a process that is invoked again and again see a term pass.
func TestCampaignMemoryObserves(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("b", term)
		fresh, again := w.host("fresh", nil), w.host("again", nil)
		again.Memory, fresh.NoClockProof, again.NoClockProof = new(core.Memory), true, true
		for range 6 {
			for _, h := range []*host{fresh, again} {
				l, err := h.TryAcquire(t.Context())
				wantHeld(t, l, err)
			}
			time.Sleep(term * 21 / 20 / 6)
		}
		time.Sleep(time.Millisecond)
		l, err := fresh.TryAcquire(t.Context())
		wantHeld(t, l, err)
		l, err = again.TryAcquire(t.Context())
		if err != nil || l.Proof() != core.ProofObserved {
			t.Fatalf("TryAcquire with a Memory: %v", err)
		}
		resign(t, l)
	})
}

// An entry of another term is judged by that one, also where it is much shorter
// or longer than one's own.
func TestCampaignOtherTerm(t *testing.T) {
	for _, other := range []time.Duration{term / 10, 10 * term} {
		bubble(t, func(t *testing.T, w *world) {
			w.store.Plant(entry.RaceEntry{LeaderID: "b", TermLength: other, Nonce: "n", FencingToken: 5,
				TermExpiry: time.Now().Add(other)})
			h := w.host("a", nil)
			h.NoClockProof = true
			began := time.Now()
			l := h.win(t)
			if took := time.Since(began); took < other+other/20 || took > other+other/20+poll+time.Second {
				t.Errorf("a term of %v was waited out in %v", other, took)
			}
			resign(t, l)
		})
	}
}

// A version names the one before it, whatever this process has seen before:
// numbers that somebody else has started anew go on from there. Tokens do not.
func TestCampaignNumbersStartedAnewByOthers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.Memory = new(core.Memory)
		for range 5 {
			resign(t, h.win(t))
		}
		w.store.Delete()
		w.store.Lead("b", term)
		w.store.Lead("", term)
		l := h.win(t)
		if e := l.Entry(); e.ElectionNumber != 2 || e.FencingToken != 6 {
			t.Errorf("number %d and token %d, want 2 after the stored 1 and 6 after one's own 5", e.ElectionNumber, e.FencingToken)
		}
		resign(t, l)
	})
}
