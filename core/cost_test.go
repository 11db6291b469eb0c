package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// Requests are what an election costs, and how long it takes until somebody
// leads again is what it is for. Both are counted here in clock time, never in
// this machine's.

// A free election: one read, one write, and no write right after the win
// (Cloud Storage takes one per second).
func TestCostOfAWin(t *testing.T) {
	for _, vacant := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			if vacant {
				w.store.Lead("", term)
			}
			h := w.host("a", nil)
			l := h.win(t)
			h.door.wantRequests(t, "a win", 1, 1)
			time.Sleep(term/3 - time.Millisecond)
			h.door.wantRequests(t, "the first third of the term", 1, 1)
			resign(t, l)
		})
	}
}

// Renewals: one write each, no reads.
func TestCostOfRenewing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		h.door.forget()
		time.Sleep(10*term + time.Second)
		h.door.wantRequests(t, "leading for ten terms", 0, 30)
		h.door.forget()
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.door.wantRequests(t, "Renew", 0, 1)
		h.door.forget()
		if err := l.SaveCheckpoint(t.Context(), []byte("x")); err != nil {
			t.Fatal(err)
		}
		h.door.wantRequests(t, "SaveCheckpoint", 0, 1)
		h.door.forget()
		resign(t, l)
		h.door.wantRequests(t, "Resign", 0, 1)
	})
}

// A lost race: one write, and a read only where the answer did not say who won.
func TestCostOfALostRace(t *testing.T) {
	for _, omit := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			h.door.RaceDecider = w.handle(omit)
			h.door.then(write, fault{kind: stuckLate, d: time.Second})
			w.run(func() {
				time.Sleep(time.Second / 2)
				w.store.Lead("b", term)
			})
			l, err := h.TryAcquire(t.Context())
			held := wantHeld(t, l, err)
			if held.Current.LeaderID != "b" {
				t.Errorf("held by %q", held.Current.LeaderID)
			}
			if omit {
				h.door.wantRequests(t, "a lost race", 2, 1)
			} else {
				h.door.wantRequests(t, "a lost race", 1, 1)
			}
		})
	}
}

// Waiting: one read per PollInterval, and never a write.
func TestCostOfWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.host("leader", nil).win(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		h := w.host("a", nil)
		<-w.campaign(ctx, h)
		reads := 0
		for _, c := range h.door.log() {
			if c.op == write {
				t.Fatal("a waiting candidate wrote")
			}
			reads++
		}
		// The first read, the first poll, which comes early, and one per interval.
		if most := int(time.Hour/poll) + 2; reads > most || reads < most-2 {
			t.Errorf("%d reads in an hour, want %d at most", reads, most)
		}
		resign(t, l)
	})
}

// When a proof is due, one read more, however long the interval.
func TestCostOfWaitingForAProof(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.PollInterval = time.Hour
		w.store.Lead("b", term) // and is never heard of again
		began := time.Now()
		l := h.win(t)
		h.door.wantRequests(t, "taking over from the dead", 2, 1) // at first, and when the proof is due
		if took := time.Since(began); took > term+term/20+500*time.Millisecond+time.Second {
			t.Errorf("it took %v: the read when the proof is due was left out", took)
		}
		resign(t, l)
	})
}

// Wake: a read at once, but never more than one in 100 ms.
func TestCostOfWake(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.host("leader", nil).win(t)
		h := w.host("a", nil)
		h.PollInterval = time.Hour
		wake := make(chan struct{})
		h.Wake = wake
		ctx, cancel := context.WithCancel(t.Context())
		out := w.campaign(ctx, h)
		time.Sleep(time.Second)
		h.door.forget()
		for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
			select {
			case wake <- struct{}{}:
			default:
			}
		}
		if n := len(h.door.log()); n < 45 || n > 51 {
			t.Errorf("%d reads in 5 s of waking, want one per 100 ms", n)
		}
		time.Sleep(time.Minute)
		h.door.forget()
		woken := time.Now()
		wake <- struct{}{}
		synctest.Wait()
		time.Sleep(h.door.lane)
		synctest.Wait()
		if log := h.door.log(); len(log) != 1 || log[0].at != woken {
			t.Errorf("%d reads after a wake, want one at once", len(log))
		}

		close(wake) // as good as nil
		time.Sleep(time.Second)
		h.door.forget()
		time.Sleep(30 * time.Minute)
		if n := len(h.door.log()); n > 1 {
			t.Errorf("%d reads in half an hour after Wake was closed", n)
		}
		cancel()
		<-out
		resign(t, l)
	})
}

// WaitAtMost bounds the waiting, says why, and does not bound the reign.
func TestCostWaitAtMost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		leader := w.host("leader", nil).win(t)
		h := w.host("a", nil)
		h.WaitAtMost = 3 * time.Second
		began := time.Now()
		l, err := h.Campaign(t.Context())
		held := wantHeld(t, l, err)
		if took := time.Since(began); took < h.WaitAtMost || took > h.WaitAtMost+time.Millisecond {
			t.Errorf("it waited %v", took)
		}
		if held.Current.LeaderID != "leader" || held.RetryAfter <= 0 || held.RetryAfter > 2*term {
			t.Errorf("held by %q, retry after %v", held.Current.LeaderID, held.RetryAfter)
		}
		for _, proof := range []core.Proof{core.ProofVacant, core.ProofReclaimed, core.ProofStoreTime, core.ProofObserved, core.ProofClock} {
			if !strings.Contains(held.Reason, proof.String()+":") {
				t.Errorf("the reason %q says nothing about %v", held.Reason, proof)
			}
		}
		err = h.RunAsLeader(t.Context(), func(context.Context, *core.Leadership) error { t.Error("elected"); return nil })
		if !errors.Is(err, core.ErrHeld) {
			t.Errorf("RunAsLeader = %v", err)
		}
		resign(t, leader)
		l = h.win(t)
		time.Sleep(5 * term)
		wantLeading(t, l)
		resign(t, l)
	})
}

// A fresh process takes an expired term at once, in two requests: a worker that
// lives two seconds never sees a term expire. By the store's time even with a
// wall clock that is a day wrong.
func TestCostOfAnExpiredTerm(t *testing.T) {
	for _, c := range []struct {
		name   string
		store  bool
		offset time.Duration
		proof  core.Proof
	}{
		{"by the store's time", true, 0, core.ProofStoreTime},
		{"by the store's time, a day fast", true, 24 * time.Hour, core.ProofStoreTime},
		{"by the store's time, a day slow", true, -24 * time.Hour, core.ProofStoreTime},
		{"by the clock", false, 0, core.ProofClock},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				if c.store {
					w.tellTime(0)
				}
				dead := w.host("dead", nil).lead(t)
				time.Sleep(term + term/10 + 2*time.Second)
				h := w.host("a", &skewclock.Options{Offset: c.offset})
				l, err := h.TryAcquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				h.door.wantRequests(t, "an expired term", 1, 1)
				if l.Proof() != c.proof || l.FencingToken() <= dead.FencingToken() {
					t.Errorf("by %v, token %d after %d", l.Proof(), l.FencingToken(), dead.FencingToken())
				}
				resign(t, l)
			})
		})
	}
}

// After a crash somebody leads at the latest a term, its margin, a poll, jitter
// and half a second after the last write; after a resignation within a poll,
// and with Wake at once.
func TestCostFailover(t *testing.T) {
	for _, store := range []bool{false, true} {
		for ms := range time.Duration(10) {
			bubble(t, func(t *testing.T, w *world) {
				if store {
					w.tellTime(0)
				}
				time.Sleep(ms * 137 * time.Millisecond)
				ctx, crash := context.WithCancel(t.Context())
				a := w.host("a", nil)
				a.winIn(t, ctx)
				out := w.campaign(t.Context(), w.host("b", nil))
				time.Sleep(3*term + ms*457*time.Millisecond)
				crash()
				log := a.door.log()
				last := log[len(log)-1].at
				r := <-out
				if r.err != nil {
					t.Fatal(r.err)
				}
				jitter := poll/10 + term/20
				if late := r.at.Sub(last) - (term + term/20 + poll + jitter + time.Second/2); late > 0 {
					t.Errorf("store time %v: the next leader came %v after the last write, %v too late", store, r.at.Sub(last), late)
				}
				resign(t, r.Leadership)
			})
		}
	}
}

func TestCostFailoverAfterResignation(t *testing.T) {
	for ms := range time.Duration(20) {
		bubble(t, func(t *testing.T, w *world) {
			a := w.host("a", nil).win(t)
			out := w.campaign(t.Context(), w.host("b", nil))
			time.Sleep(term + ms*57*time.Millisecond)
			resign(t, a)
			resigned := time.Now()
			r := <-out
			if took := r.at.Sub(resigned); took > poll+time.Millisecond {
				t.Errorf("the next leader came %v after the resignation", took)
			}
			resign(t, r.Leadership)
		})
	}
}

func TestCostFailoverWithWake(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", nil).win(t)
		b := w.host("b", nil)
		wake := make(chan struct{}, 1)
		b.Wake, b.PollInterval = wake, time.Hour
		out := w.campaign(t.Context(), b)
		time.Sleep(term)
		resign(t, a)
		wake <- struct{}{}
		resigned := time.Now()
		r := <-out
		if took := r.at.Sub(resigned); took > 3*b.door.lane {
			t.Errorf("the next leader came %v after the resignation, want two round trips", took)
		}
		b.door.wantRequests(t, "waiting, and a win after a wake", len(b.door.log())-1, 1)
		resign(t, r.Leadership)
	})
}

// The store's least interval between writes is kept by default.
func TestCostWriteLimiter(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.tellTime(0)
		h := w.host("a", nil)
		h.Decider = w.store.Limited(time.Second)
		h.TermLength = 2 * time.Second
		l := h.win(t)
		time.Sleep(20 * time.Second)
		wantLeading(t, l)
		if n := len(h.told(core.EventRenewed)); n < 15 || n > 20 {
			t.Errorf("%d renewals in 20 s", n)
		}
		for _, e := range h.told(core.EventRequest) {
			if e.Err != nil {
				t.Errorf("a request failed: %v", e.Err)
			}
		}
		time.Sleep(time.Second)
		resign(t, l)
		h.RenewInterval = 900 * time.Millisecond
		if _, err := h.Campaign(t.Context()); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("Campaign with a RenewInterval below the store's limit = %v", err)
		}
	})
}
