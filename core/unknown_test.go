package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// An answer that never came says nothing. These tests lose the answers to every
// kind of write, with the write stored and not, and late, and twice.

// Without the comparison of nonces a stored win is somebody else's entry: the
// candidate waits a term for itself. With it the win counts, from its own sending.
func TestUnknownWinThatWasStored(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.then(write, fault{kind: lose, d: time.Second})
		sent := time.Now()
		l := h.lead(t)
		h.door.wantRequests(t, "a win whose answer was lost", 2, 1)
		if got := w.stored(t); l.Entry().Nonce != got.Nonce || l.FencingToken() != got.FencingToken {
			t.Error("the reign is not the one that is stored")
		}
		<-l.Context().Done()
		if lasted := time.Since(sent); lasted.Truncate(time.Microsecond) != term {
			t.Errorf("the reign ended %v after its win was sent, want %v", lasted, term)
		}
		wantOver(t, l, core.ErrTermExpired)
		resign(t, l)
	})
}

// The other half: it was not stored. The candidate tries again, after a pause.
func TestUnknownWinThatWasNotStored(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.then(write, fault{kind: refuse}, fault{kind: hang})
		l := h.win(t)
		if got := w.stored(t); got.ElectionNumber != 0 || got.Nonce != l.Entry().Nonce {
			t.Errorf("election number %d is stored, want the first", got.ElectionNumber)
		}
		h.door.wantRequests(t, "a win at the third attempt", 1+2+2, 3) // one look after each unknown answer, one before the next attempt
		resign(t, l)
	})
}

// A write that was given up may land when the next attempt is on its way. One
// of the two is stored; the other loses, and must not be taken for a defeat.
func TestUnknownWinLandsBetweenAttempts(t *testing.T) {
	for _, omit := range []bool{false, true} {
		for after := 100 * time.Millisecond; after <= 3*time.Second; after += 100 * time.Millisecond {
			t.Run(fmt.Sprintf("%v omit=%v", after, omit), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					h := w.host("a", nil)
					h.door.RaceDecider = w.handle(omit)
					h.door.then(write, fault{kind: late, d: after}, fault{kind: slowBack, d: time.Second})
					l := h.lead(t)
					sent := w.sentAt(h, w.stored(t).Nonce)
					if l.Entry().Nonce != w.stored(t).Nonce {
						t.Fatal("the reign is not the one that is stored")
					}
					time.Sleep(after) // the loser lands
					wantLeading(t, l)
					<-l.Context().Done()
					if lasted := time.Since(sent); lasted.Truncate(time.Microsecond) != term {
						t.Errorf("the reign ended %v after the stored attempt was sent, want %v", lasted, term)
					}
					resign(t, l)
				})
			})
		}
	}
}

// A proxy that sends a request twice turns one's own success into a "lost".
func TestUnknownDuplicatedWin(t *testing.T) {
	for _, omit := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			h.door.RaceDecider = w.handle(omit)
			h.door.then(write, fault{kind: duplicate})
			l := h.win(t)
			reads := 1
			if omit { // the answer does not say what is stored
				reads = 2
			}
			h.door.wantRequests(t, "a duplicated win", reads, 1)
			if l.Entry().ElectionNumber != 0 {
				t.Errorf("election number %d, want 0: one write", l.Entry().ElectionNumber)
			}
			resign(t, l)
		})
	}
}

// The same for renewals: an own nonce in a "lost" is a confirmation.
func TestUnknownRenewals(t *testing.T) {
	for _, c := range []struct {
		name          string
		omit          bool
		fault         fault
		reads, writes int
	}{
		{"lost answer", false, fault{kind: lose}, 1, 1},
		{"not sent", false, fault{kind: refuse}, 1, 1},
		{"duplicated", false, fault{kind: duplicate}, 0, 1},
		{"duplicated, and the answer names no winner", true, fault{kind: duplicate}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				h.door.RaceDecider = w.handle(c.omit)
				l := h.lead(t)
				time.Sleep(term / 2)
				h.door.forget()
				h.door.then(write, c.fault)
				err := l.Renew(t.Context())
				if stored := c.fault.kind != refuse; stored != (err == nil) {
					t.Errorf("Renew = %v; stored: %v", err, stored)
				}
				h.door.wantRequests(t, "the renewal", c.reads, c.writes)
				wantLeading(t, l)
				if err := l.Renew(t.Context()); err != nil {
					t.Errorf("the next renewal: %v", err)
				}
				if l.Entry().Nonce != w.stored(t).Nonce {
					t.Error("the reign is not what is stored")
				}
				time.Sleep(term - time.Nanosecond*10)
				wantLeading(t, l)
				resign(t, l)
			})
		})
	}
}

// A renewal that was given up and retried lands after all: before its retry,
// which then loses to its own elder, or after it, when it loses itself. The
// leader goes on in both cases and loses nothing but time.
func TestUnknownRenewalLandsLate(t *testing.T) {
	for after := 50 * time.Millisecond; after < 4*time.Second; after += 150 * time.Millisecond {
		t.Run(after.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				l := h.win(t)
				h.door.then(write, fault{kind: late, d: after}, fault{kind: refuse}, fault{kind: late, d: after})
				for range 4 * term / time.Second {
					time.Sleep(time.Second)
					wantLeading(t, l)
				}
				resign(t, l)
				if got := w.stored(t); !got.Vacant() || got.FencingToken != l.FencingToken() {
					t.Errorf("stored: %+v, want this reign's vacant entry", got)
				}
			})
		})
	}
}

// A late renewal counts from its own sending, not from when it was found.
func TestUnknownLateRenewalCountsFromItsSending(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.lead(t)
		time.Sleep(2 * time.Second)
		sent := time.Now()
		h.door.then(write, fault{kind: late, d: time.Second})
		if err := l.Renew(t.Context()); err == nil {
			t.Fatal("the first renewal was to fail")
		}
		time.Sleep(2 * time.Second)
		// The second write loses to the first one; the third is never sent.
		h.door.then(write, fault{}, fault{kind: refuse})
		h.door.all(read, fault{kind: refuse})
		_ = l.Renew(t.Context())
		<-l.Context().Done()
		if lasted := time.Since(sent); lasted.Truncate(time.Microsecond) != term {
			t.Errorf("the reign ended %v after the stored renewal was sent, want %v", lasted, term)
		}
		h.door.all(read, fault{})
		resign(t, l)
	})
}

// Resignations.
func TestUnknownResignations(t *testing.T) {
	for _, c := range []struct {
		name          string
		faults        []fault
		reads, writes int
	}{
		{"lost answer", []fault{{kind: lose}}, 1, 1},
		{"not sent", []fault{{kind: refuse}}, 1, 2},
		{"duplicated", []fault{{kind: duplicate}}, 0, 1},
		{"hangs and is stored", []fault{{kind: hangAfter}}, 1, 1},
		{"hangs and is not stored, twice", []fault{{kind: hang}, {kind: hang}}, 2, 3},
		{"lands late, after its retry", []fault{{kind: late, d: 5 * time.Second}}, 1, 2},
		{"lands late, before its retry", []fault{{kind: late, d: 100 * time.Millisecond}}, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				l := h.lead(t)
				h.door.forget()
				h.door.then(write, c.faults...)
				resign(t, l)
				h.door.wantRequests(t, "the resignation", c.reads, c.writes)
				time.Sleep(5 * time.Second)
				if got := w.stored(t); !got.Vacant() || got.ElectionNumber != 1 || got.FencingToken != l.FencingToken() {
					t.Errorf("stored: %+v, want version 1, vacant", got)
				}
			})
		})
	}
}

// When the caller of Campaign is gone, nobody will ever use a win that comes
// to light afterwards; left alone it would keep the election closed for a term.
func TestUnknownWinOfACampaignThatHasEnded(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault fault
	}{
		{"stored at once, never answered", fault{kind: hangAfter}},
		{"on its way when the context ends", fault{kind: stuckLate, d: time.Second + 50*time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				h.door.then(write, c.fault)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				l, err := h.Campaign(ctx)
				if l != nil || !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("Campaign = %v, %v; want no leadership and the context's error", l, err)
				}
				if took := h.door.log(); time.Since(took[0].at) > time.Second+term/4 {
					t.Errorf("Campaign came back %v after its context ended", time.Since(took[0].at)-time.Second)
				}
				got := w.stored(t)
				if !got.Vacant() || got.ElectionNumber != 1 {
					t.Errorf("stored: leader %q, number %d; want a vacant entry", got.LeaderID, got.ElectionNumber)
				}
				next := w.host("b", nil).win(t) // at once
				if next.FencingToken() != got.FencingToken+1 {
					t.Errorf("the next token is %d after %d", next.FencingToken(), got.FencingToken)
				}
				resign(t, next)
			})
		})
	}
}

// The same where nothing was stored: nothing is written then.
func TestUnknownWinOfACampaignThatHasEndedWasNotStored(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.then(write, fault{kind: hang})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if l, err := h.Campaign(ctx); l != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Campaign = %v, %v", l, err)
		}
		if _, stored := w.store.Stored(); stored {
			t.Error("something is stored")
		}
	})
}

// A store that hangs altogether does not keep a campaign from ending.
func TestUnknownStoreHangsWhenTheCampaignEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.then(write, fault{kind: stuck, d: time.Hour})
		h.door.then(read, fault{})
		h.door.all(read, fault{kind: stuck, d: time.Hour})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := h.Campaign(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Campaign = %v", err)
		}
		if took := time.Since(began); took > time.Second+term/4+time.Microsecond {
			t.Errorf("Campaign came back after %v", took)
		}
	})
}

// One attempt whose outcome was unknown, found by the next call of the process:
// it proves that the election is to be had. Without a Memory nobody knows whose
// entry it is.
func TestUnknownTryAcquireFoundByTheNextCall(t *testing.T) {
	for _, remembers := range []bool{true, false} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			if remembers {
				h.Memory = new(core.Memory)
			}
			h.door.then(write, fault{kind: late, d: time.Second})
			if l, err := h.TryAcquire(t.Context()); l != nil || !errors.Is(err, errNet) {
				t.Fatalf("TryAcquire = %v, %v; want what the store answered", l, err)
			}
			time.Sleep(2 * time.Second)
			old := w.stored(t)
			l, err := h.TryAcquire(t.Context())
			if !remembers {
				wantHeld(t, l, err)
				return
			}
			if err != nil {
				t.Fatalf("TryAcquire: %v", err)
			}
			if l.Proof() != core.ProofReclaimed || l.FencingToken() != old.FencingToken+1 {
				t.Errorf("proof %v, token %d after %d", l.Proof(), l.FencingToken(), old.FencingToken)
			}
			resign(t, l)
		})
	}
}

// Where it was stored and can be read back, one call is enough.
func TestUnknownTryAcquireReadsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.then(write, fault{kind: lose})
		l, err := h.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h.door.wantRequests(t, "TryAcquire with a lost answer", 2, 1)
		resign(t, l)
	})
}

// A checkpoint whose write was given up lands late. It is stored, and it is the
// newest that was to be saved: the renewals that follow keep it.
func TestUnknownCheckpointOfALateWriteStays(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		h.door.then(write, fault{kind: late, d: time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := l.SaveCheckpoint(ctx, []byte("late")); err == nil {
			t.Fatal("SaveCheckpoint was to fail")
		}
		if got := string(l.Checkpoint()); got != "" {
			t.Errorf("Checkpoint = %q before anything is known", got)
		}
		time.Sleep(term)
		if got := string(w.stored(t).Checkpoint); got != "late" {
			t.Errorf("the renewals left %q for a checkpoint", got)
		}
		resign(t, l)
		if got := string(w.stored(t).Checkpoint); got != "late" {
			t.Errorf("the resignation left %q for a checkpoint", got)
		}
	})
}

// A newer one that is being saved wins over a late one.
func TestUnknownNewerCheckpointWins(t *testing.T) {
	for after := 100 * time.Millisecond; after < 3*time.Second; after += 100 * time.Millisecond {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			l := h.win(t)
			h.door.then(write, fault{kind: late, d: after}, fault{kind: refuse})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := l.SaveCheckpoint(ctx, []byte("old")); err == nil {
				t.Fatal("the first SaveCheckpoint was to fail")
			}
			if err := l.SaveCheckpoint(t.Context(), []byte("new")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(term)
			if got := string(w.stored(t).Checkpoint); got != "new" {
				t.Errorf("late by %v: %q is stored", after, got)
			}
			resign(t, l)
		})
	}
}

// Nobody is told of a win before it is confirmed.
func TestUnknownWinIsNotTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.then(write, fault{kind: hangAfter})
		out := w.campaign(t.Context(), h)
		time.Sleep(term / 8)
		synctest.Wait()
		select {
		case <-out:
			t.Error("Campaign returned before the win was confirmed")
		default:
		}
		if n := len(h.told(core.EventElected)); n != 0 {
			t.Error("the win was told before it was confirmed")
		}
		r := <-out
		if r.err != nil {
			t.Fatal(r.err)
		}
		if n := len(h.told(core.EventElected)); n != 1 {
			t.Errorf("%d wins were told", n)
		}
		resign(t, r.Leadership)
	})
}
