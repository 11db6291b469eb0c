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

// The vacant entry: one version later, the same reign, and what is left for the
// next leader.
func TestResignVacantEntry(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.HostPort, h.ConnectionParams = []string{"10.0.0.1:80"}, []byte("params")
		l := h.win(t)
		if err := l.SaveCheckpoint(t.Context(), []byte("cursor")); err != nil {
			t.Fatal(err)
		}
		before := w.stored(t)
		h.door.forget()
		resign(t, l)
		h.door.wantRequests(t, "a resignation", 0, 1)
		wantOver(t, l, core.ErrResigned)
		got := w.stored(t)
		switch {
		case !got.Vacant() || len(got.HostPort) > 0 || len(got.ConnectionParams) > 0 || got.Held:
			t.Errorf("stored: %+v, want a vacant entry", got)
		case got.FencingToken != before.FencingToken:
			t.Errorf("fencing token %d after %d: without it the next leader would reuse this one", got.FencingToken, before.FencingToken)
		case got.ElectionNumber != before.ElectionNumber+1 || got.Nonce == before.Nonce:
			t.Errorf("version %d after %d: a resignation is a write like any other", got.ElectionNumber, before.ElectionNumber)
		case string(got.Checkpoint) != "cursor":
			t.Errorf("checkpoint %q: it was to survive", got.Checkpoint)
		}
		next := w.host("b", nil).win(t)
		if string(next.Checkpoint()) != "cursor" || next.FencingToken() != got.FencingToken+1 || next.Proof() != core.ProofVacant {
			t.Errorf("next: checkpoint %q, token %d, by %v", next.Checkpoint(), next.FencingToken(), next.Proof())
		}
		resign(t, next)
	})
}

// The same write may leave a checkpoint.
func TestResignWithCheckpoint(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		h.door.forget()
		if err := l.ResignWith(t.Context(), make([]byte, 4097)); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("ResignWith 4097 bytes = %v, want ErrInvalidConfig", err)
		}
		wantLeading(t, l) // a refused parameter ends nothing
		if err := l.ResignWith(t.Context(), []byte("done")); err != nil {
			t.Fatal(err)
		}
		h.door.wantRequests(t, "ResignWith", 0, 1)
		if got := w.stored(t); string(got.Checkpoint) != "done" || !got.Vacant() {
			t.Errorf("stored: %+v", got)
		}
	})
}

// Resigning twice, or from everywhere at once, writes once.
func TestResignIsIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		h.door.forget()
		for range 8 {
			w.run(func() { resign(t, l) })
		}
		w.done.Wait()
		resign(t, l)
		h.door.wantRequests(t, "nine resignations", 0, 1)
	})
}

// The context of whoever resigns has often ended already: that is why it does.
func TestResignWithAnEndedContext(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		ctx, cancel := context.WithCancel(t.Context())
		l := h.winIn(t, ctx)
		cancel()
		if err := l.Resign(ctx); err != nil {
			t.Errorf("Resign = %v", err)
		}
		if !w.stored(t).Vacant() {
			t.Error("nothing was released")
		}
	})
}

// One that ends in the middle bounds it.
func TestResignContextEndsMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		h.door.then(write, fault{kind: stuck, d: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := l.Resign(ctx)
		if !errors.Is(err, core.ErrNotResigned) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Resign = %v, want ErrNotResigned and the context's error", err)
		}
		if took := time.Since(began); took > time.Second+time.Microsecond {
			t.Errorf("Resign took %v, its context lasts a second", took)
		}
		resign(t, l) // keeps its state until it succeeded
		if !w.stored(t).Vacant() {
			t.Error("nothing was released")
		}
	})
}

// A resignation waits for the renewal in flight, and builds on what that one
// left; two writes at once would lose to each other.
func TestResignDuringARenewal(t *testing.T) {
	for _, f := range []fault{{kind: slowBack, d: time.Second}, {kind: stuckLate, d: time.Second}, {kind: hangAfter}, {kind: hang}} {
		t.Run(fmt.Sprint(f.kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				l := h.win(t)
				h.door.then(write, f)
				time.Sleep(term/3 + time.Second/2) // the renewal is on its way
				resign(t, l)
				time.Sleep(time.Minute) // whatever lands late has landed
				got := w.stored(t)
				if !got.Vacant() || got.FencingToken != l.FencingToken() {
					t.Errorf("stored: %+v, want vacant", got)
				}
			})
		})
	}
}

// A store that takes one write per second refuses a resignation right after a
// renewal. It is sent at once all the same, and again until it is taken.
func TestResignIsRetriedOn429(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.tellTime(0)
		w.store.SetLimit(time.Second)
		h := w.host("a", nil)
		l := h.win(t)
		h.door.forget()
		began := time.Now()
		resign(t, l)
		if !w.stored(t).Vacant() {
			t.Error("not vacant")
		}
		if first := h.door.log()[0]; first.op != write || first.at != began {
			t.Error("the first attempt was not sent at once")
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// It is retried until the term would have ended, and not longer. Then the error
// says so, and a later call may still succeed.
func TestResignRetriedUntilTheTermsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.lead(t)
		sent := w.sentAt(h, l.Entry().Nonce)
		h.door.forget()
		h.door.all(write, fault{kind: refuse})
		err := l.Resign(t.Context())
		if !errors.Is(err, core.ErrNotResigned) || !errors.Is(err, errNet) {
			t.Errorf("Resign = %v, want ErrNotResigned and what the store said", err)
		}
		if took := time.Since(sent); took < term-term/3-time.Second || took > term+term/3 {
			t.Errorf("Resign gave up %v after the last renewal, the term is %v", took, term)
		}
		if n := len(h.door.log()); n < 6 || n > 40 {
			t.Errorf("%d requests", n)
		}
		if len(h.told(core.EventNotResigned)) != 1 {
			t.Error("nobody was told")
		}
		h.door.all(write, fault{})
		resign(t, l)
		if !w.stored(t).Vacant() {
			t.Error("not vacant")
		}
	})
}

// A broken store cannot be resigned to; that is an error at once.
func TestResignBroken(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		h.door.all(write, fault{kind: refuse, err: fmt.Errorf("%w: denied", core.ErrBroken)})
		began := time.Now()
		if err := l.Resign(t.Context()); !errors.Is(err, core.ErrNotResigned) || !errors.Is(err, core.ErrBroken) {
			t.Errorf("Resign = %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// After a loss there is nothing to resign from, and nothing to leave for the
// successor, who is already there.
func TestResignAfterLoss(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.host("a", nil).win(t)
		w.store.Lead("b", term)
		<-l.Context().Done()
		resign(t, l)
		if err := l.ResignWith(t.Context(), []byte("late")); !errors.Is(err, core.ErrLeadershipLost) {
			t.Errorf("ResignWith = %v, want ErrLeadershipLost", err)
		}
		if got := w.stored(t); got.LeaderID != "b" || len(got.Checkpoint) > 0 {
			t.Errorf("stored: %+v", got)
		}
	})
}

// The same where the resignation is what finds out.
func TestResignFindsTheLoss(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.host("a", nil).win(t)
		w.store.Lead("b", term)
		if err := l.ResignWith(t.Context(), []byte("late")); !errors.Is(err, core.ErrLeadershipLost) {
			t.Errorf("ResignWith = %v, want ErrLeadershipLost", err)
		}
		if got := w.stored(t); got.LeaderID != "b" || len(got.Checkpoint) > 0 {
			t.Errorf("stored: %+v", got)
		}
	})
}

// An expired reign whose entry is still there can be resigned, which spares
// the next leader the margin.
func TestResignAfterExpiry(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.lead(t)
		<-l.Context().Done()
		h.door.forget()
		resign(t, l)
		h.door.wantRequests(t, "resigning an expired reign", 0, 1)
		if !w.stored(t).Vacant() {
			t.Error("not vacant")
		}
		wantOver(t, l, core.ErrTermExpired) // the first reason stays
	})
}

// MinHold: nobody wins again sooner than that after the win. The Held entry
// keeps others away, the Memory this process, and Reclaim is no way around it.
func TestResignMinHold(t *testing.T) {
	const hold = time.Minute
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", nil)
		a.MinHold, a.Memory = hold, new(core.Memory)
		l := a.win(t)
		won := time.Now()
		time.Sleep(term)
		resign(t, l)
		held := w.stored(t)
		if !held.Held || held.LeaderID != "a" || held.TermLength < hold-term || held.TermLength > hold-term+term/20+time.Second {
			t.Fatalf("stored: %+v, want what is left of %v, held", held, hold)
		}
		if held.FencingToken != l.FencingToken() || held.ElectionNumber != l.Entry().ElectionNumber {
			t.Errorf("held: token %d, number %d", held.FencingToken, held.ElectionNumber)
		}
		again := w.host("a", nil)
		again.Reclaim = true
		others := []*host{a, again, w.host("b", nil), w.host("fast", nil)}
		for time.Since(won) < hold {
			for _, h := range others {
				l, err := h.TryAcquire(t.Context())
				wantHeld(t, l, err)
			}
			time.Sleep(time.Second)
		}
		next := others[2].win(t)
		if late := time.Since(won) - hold; late > hold/20+poll+time.Second {
			t.Errorf("the next leader came %v after MinHold", late)
		}
		resign(t, next)
	})
}

// Whoever judges the Held entry by its own clock or by the store's waits long enough.
func TestResignMinHoldIsNotShortened(t *testing.T) {
	const hold = 1000 * time.Second
	for _, byStore := range []bool{true, false} {
		bubble(t, func(t *testing.T, w *world) {
			if byStore {
				w.tellTime(0)
			}
			a := w.host("a", nil)
			a.MinHold = hold
			l := a.win(t)
			won := time.Now()
			time.Sleep(hold / 2)
			resign(t, l)
			b := w.host("b", nil)
			b.NoClockProof = true
			next := b.win(t)
			if early := hold - time.Since(won); early > 0 {
				t.Errorf("elected %v too early", early)
			}
			resign(t, next)
		})
	}
}

// A reign that ended without a word leaves no Held entry. This process could
// reclaim its own at once; it promised not to be elected again so soon.
func TestResignMinHoldWithoutAResignation(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", nil)
		a.MinHold, a.Memory, a.Reclaim = time.Minute, new(core.Memory), true
		l := a.lead(t)
		won := time.Now()
		<-l.Context().Done()
		for time.Since(won) < time.Minute {
			again, err := a.TryAcquire(t.Context())
			wantHeld(t, again, err)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute / 20)
		resign(t, a.win(t))
	})
}

// After MinHold a resignation is an ordinary one.
func TestResignAfterMinHold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", nil)
		a.MinHold, a.Memory = time.Minute, new(core.Memory)
		l := a.win(t)
		time.Sleep(time.Minute + 4*time.Second)
		resign(t, l)
		if got := w.stored(t); !got.Vacant() || got.Held {
			t.Errorf("stored: %+v, want vacant", got)
		}
		resign(t, a.win(t))
	})
}

// RunAsLeader: the work has returned, and cannot think that it leads, before
// the entry says that nobody does.
func TestResignRunAsLeader(t *testing.T) {
	failed := errors.New("the work failed")
	for _, c := range []struct {
		name string
		work func(t *testing.T, w *world, h *host, l *core.Leadership) error
		want []error
	}{
		{"returns", func(*testing.T, *world, *host, *core.Leadership) error { return nil }, nil},
		{"fails", func(*testing.T, *world, *host, *core.Leadership) error { return failed }, []error{failed}},
		{"resigns by itself", func(t *testing.T, _ *world, _ *host, l *core.Leadership) error { return l.Resign(t.Context()) }, nil},
		{"loses, and does not notice", func(_ *testing.T, w *world, _ *host, _ *core.Leadership) error {
			w.store.Lead("b", term)
			time.Sleep(term)
			return failed
		}, []error{failed, core.ErrLeadershipLost}},
		{"expires, and does not notice", func(_ *testing.T, _ *world, h *host, _ *core.Leadership) error {
			h.door.all(write, fault{kind: refuse})
			time.Sleep(2 * term)
			return nil
		}, []error{core.ErrTermExpired, core.ErrNotResigned}},
		{"cannot resign", func(_ *testing.T, _ *world, h *host, _ *core.Leadership) error {
			h.door.all(write, fault{kind: refuse})
			return failed
		}, []error{failed, core.ErrNotResigned}},
		{"says itself that it lost", func(t *testing.T, w *world, _ *host, l *core.Leadership) error {
			w.store.Lead("b", term)
			<-l.Context().Done()
			return context.Cause(l.Context())
		}, []error{core.ErrLeadershipLost}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				var l *core.Leadership
				err := h.RunAsLeader(t.Context(), func(ctx context.Context, led *core.Leadership) error {
					l = led
					if from, _ := core.FromContext(ctx); from != l || ctx != l.Context() {
						t.Error("the work's context is not the leadership's")
					}
					defer func() {
						if e, _ := w.store.Stored(); e.Vacant() && c.name != "resigns by itself" {
							t.Error("the entry was vacant before the work had returned")
						}
					}()
					return c.work(t, w, h, l)
				})
				if (err == nil) != (c.want == nil) {
					t.Errorf("RunAsLeader = %v", err)
				}
				for _, want := range c.want {
					if !errors.Is(err, want) {
						t.Errorf("RunAsLeader = %v, want %v in it", err, want)
					}
				}
				if l.Check() == nil {
					t.Error("the reign lasts")
				}
				if got := w.stored(t); !errors.Is(err, core.ErrNotResigned) && got.LeaderID == "a" {
					t.Errorf("stored: %+v", got)
				}
			})
		})
	}
}

// A panic of the work resigns, and goes on.
func TestResignRunAsLeaderPanics(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		func() {
			defer func() {
				if r := recover(); r != "oops" {
					t.Errorf("recovered %v", r)
				}
			}()
			_ = h.RunAsLeader(t.Context(), func(context.Context, *core.Leadership) error { panic("oops") })
		}()
		if !w.stored(t).Vacant() {
			t.Error("not resigned")
		}
	})
}

// The end of ctx is not the work's failure; its end is waited for.
func TestResignRunAsLeaderContextEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		finished := false
		err := h.RunAsLeader(ctx, func(ctx context.Context, l *core.Leadership) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			synctest.Wait()
			if w.stored(t).Vacant() {
				t.Error("released while the work was still stopping")
			}
			finished = true
			return nil
		})
		if err != nil || !finished {
			t.Errorf("RunAsLeader = %v, the work finished: %v", err, finished)
		}
		if !w.stored(t).Vacant() {
			t.Error("not resigned")
		}
	})
}

// A resignation that was given up, then called again with a checkpoint.
func TestResignKeepsItsState(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.lead(t)
		h.door.all(write, fault{kind: refuse})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Resign(ctx); !errors.Is(err, core.ErrNotResigned) {
			t.Fatalf("Resign = %v", err)
		}
		wantOver(t, l, core.ErrResigned)
		h.door.all(write, fault{})
		if err := l.ResignWith(t.Context(), []byte("done")); err != nil {
			t.Fatal(err)
		}
		if got := w.stored(t); !got.Vacant() || string(got.Checkpoint) != "done" {
			t.Errorf("stored: %+v", got)
		}
	})
}
