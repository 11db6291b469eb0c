package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// A context that outlives its term is a second leader. It ends on time however
// long a request hangs, even in a store call that ignores its context, and so
// does whoever waits for that call.
func TestHoldingRenewalsHang(t *testing.T) {
	for _, f := range []fault{{kind: hang}, {kind: hangAfter}, {kind: stuck, d: time.Hour}, {kind: slowBack, d: time.Hour}} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				l := h.win(t)
				sent := w.sentAt(h, l.Entry().Nonce)
				time.Sleep(term / 10)
				h.door.all(write, f)
				h.door.all(read, fault{kind: stuck, d: time.Hour})
				time.Sleep(time.Until(sent.Add(term)) - time.Nanosecond)
				wantLeading(t, l)
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				wantOver(t, l, core.ErrTermExpired)

				began := time.Now()
				if err := l.Resign(t.Context()); !errors.Is(err, core.ErrNotResigned) {
					t.Errorf("Resign = %v, want ErrNotResigned", err)
				}
				if took := time.Since(began); took > term {
					t.Errorf("Resign took %v", took)
				}
			})
		})
	}
}

// A caller of Renew waits no longer than a request may take, nor than its context.
func TestHoldingCallersAreNotKept(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.lead(t)
		h.door.all(write, fault{kind: stuck, d: time.Hour})
		h.door.all(read, fault{kind: stuck, d: time.Hour})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Renew(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Renew = %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("Renew kept its caller for %v, the context lasts 1s", took)
		}
		began = time.Now()
		if err := l.Renew(t.Context()); err == nil {
			t.Error("Renew succeeded")
		}
		if took := time.Since(began); took > term/2 { // the write, and reading back
			t.Errorf("Renew kept its caller for %v", took)
		}
		wantLeading(t, l)
		<-l.Context().Done()
	})
}

// Go's monotonic clock stops in suspend, and timers with it: only the wall
// clock shows what was missed. A wall clock that stands still, or is set back,
// hides nothing from the monotonic one.
func TestHoldingOneClockFrozen(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(h *host)
		wakes  bool // the host's timers run: the context ends by itself
	}{
		{"the monotonic clock", func(h *host) { h.clock.FreezeMono() }, false},
		{"the wall clock", func(h *host) { h.clock.FreezeWall() }, true},
		{"the wall clock is set back a day", func(h *host) { h.clock.Step(-24 * time.Hour) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				l := h.lead(t)
				sent := w.sentAt(h, l.Entry().Nonce)
				time.Sleep(term / 3)
				c.before(h)
				time.Sleep(time.Until(sent.Add(term)) - time.Nanosecond)
				wantLeading(t, l)
				time.Sleep(time.Nanosecond)
				if c.wakes {
					synctest.Wait()
					if l.Context().Err() == nil {
						t.Error("the context is alive after the term")
					}
				}
				wantOver(t, l, core.ErrTermExpired)
				h.clock.ThawMono(false)
				resign(t, l)
			})
		})
	}
}

// After a freeze the context follows at the next wake-up, also if nobody asks.
func TestHoldingContextFollowsAFreeze(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		time.Sleep(term / 3)
		h.clock.FreezeMono()
		time.Sleep(2 * term)
		h.clock.ThawMono(false)
		thawed := time.Now()
		<-l.Context().Done()
		if late := time.Since(thawed); late > term/8 {
			t.Errorf("the context ended %v after the thaw, want a wake-up later at most", late)
		}
		wantOver(t, l, core.ErrTermExpired)
		for _, c := range h.door.log() {
			if c.op == write && c.at.After(thawed) {
				t.Error("a leader of the past has sent a renewal")
			}
		}
		resign(t, l)
	})
}

// One clock stops, then the other: each alone shows 60 % of a term. The larger
// steps, added up, show all of it.
func TestHoldingOneClockFrozenAfterTheOther(t *testing.T) {
	for _, monoFirst := range []bool{true, false} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			l := h.lead(t)
			began := time.Now()
			over := time.Duration(0)
			for over == 0 && time.Since(began) < 2*term {
				since := time.Since(began)
				if first := since < term*6/10; first == monoFirst {
					h.clock.ThawWall(false)
					h.clock.FreezeMono()
				} else {
					h.clock.ThawMono(false)
					h.clock.FreezeWall()
				}
				time.Sleep(10 * time.Millisecond)
				if l.Check() != nil {
					over = time.Since(began)
				}
			}
			if over < term-time.Millisecond || over > term+20*time.Millisecond {
				t.Errorf("monotonic first: %v: the reign ended after %v, want %v", monoFirst, over, term)
			}
			h.clock.ThawMono(false)
			h.clock.ThawWall(false)
			resign(t, l)
		})
	}
}

// A wall clock that jumps a day ahead may have stood still for a day with all
// else: the leader cannot tell, so it ends. It is elected again at once.
func TestHoldingWallClockJumpsAhead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.Memory = new(core.Memory)
		l := h.win(t)
		time.Sleep(time.Second)
		h.clock.Step(24 * time.Hour)
		wantOver(t, l, core.ErrTermExpired)
		again := h.win(t)
		if again.Proof() != core.ProofReclaimed {
			t.Errorf("elected again by %v", again.Proof())
		}
		time.Sleep(3 * term)
		wantLeading(t, again)
		resign(t, again)
	})
}

// A wall clock that is set back by a day ends nothing, and renewals go on.
func TestHoldingWallClockJumpsBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		for range 5 {
			h.clock.Step(-24 * time.Hour)
			time.Sleep(term)
			wantLeading(t, l)
		}
		resign(t, l)
	})
}

// A permission that is taken away for a minute must not end a reign: only a
// proved loss and the term's end do.
func TestHoldingBrokenInTheMiddleIsRetried(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.win(t)
		denied := fault{kind: refuse, err: fmt.Errorf("%w: permission denied", core.ErrBroken)}
		h.door.then(write, denied, denied, denied)
		time.Sleep(2 * term)
		wantLeading(t, l)
		h.door.all(write, denied)
		<-l.Context().Done()
		wantOver(t, l, core.ErrTermExpired)
		if err := l.Resign(t.Context()); !errors.Is(err, core.ErrNotResigned) || !errors.Is(err, core.ErrBroken) {
			t.Errorf("Resign = %v, want ErrNotResigned and why", err)
		}
	})
}

// A store that answers nothing for a while: renewals are tried again, with
// pauses that grow to RenewInterval and no further.
func TestHoldingFailedRenewalsAreRetried(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.TermLength = time.Hour
		h.RenewInterval = time.Minute
		l := h.win(t)
		h.door.forget()
		h.door.all(write, fault{kind: refuse})
		time.Sleep(50 * time.Minute)
		var last time.Time
		attempts := 0
		for _, c := range h.door.log() {
			if c.op == read {
				continue
			}
			if gap := c.at.Sub(last); attempts > 0 && gap > time.Minute+time.Millisecond {
				t.Errorf("a pause of %v, want RenewInterval at most", gap)
			}
			last = c.at
			attempts++
		}
		if attempts < 50 || attempts > 120 {
			t.Errorf("%d attempts in 50 minutes", attempts)
		}
		h.door.all(write, fault{})
		time.Sleep(time.Hour)
		wantLeading(t, l)
		resign(t, l)
	})
}

// What else may be found where the reign's entry was: the reign is over at
// once, and says so. Nothing is written over it.
func TestHoldingEntryReplaced(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace func(w *world)
	}{
		{"another leader", func(w *world) { w.store.Lead("other", term) }},
		{"vacated by an operator", func(w *world) { w.store.Lead("", term) }},
		{"deleted", func(w *world) { w.store.Delete() }},
		{"corrupted", func(w *world) { w.store.PlantRaw([]byte("rubbish")) }},
		{"of a newer version", func(w *world) { w.store.PlantRaw([]byte(`{"version":99}`)) }},
	} {
		for _, omit := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s omit=%v", c.name, omit), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					h := w.host("a", nil)
					h.door.RaceDecider = w.handle(omit)
					l := h.win(t)
					time.Sleep(term)
					c.replace(w)
					before, present := w.store.Stored()
					<-l.Context().Done()
					wantOver(t, l, core.ErrLeadershipLost)
					for _, err := range []error{l.Renew(t.Context()), l.SaveCheckpoint(t.Context(), []byte("x")),
						l.ResignWith(t.Context(), []byte("x"))} {
						if !errors.Is(err, core.ErrLeadershipLost) {
							t.Errorf("after the loss: %v, want ErrLeadershipLost", err)
						}
					}
					resign(t, l)
					after, still := w.store.Stored()
					if present != still || before.Nonce != after.Nonce {
						t.Errorf("stored before: %+v, after: %+v", before, after)
					}
				})
			})
		}
	}
}

// Nothing is sent for a reign that is over.
func TestHoldingNothingIsSentAfterTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for _, end := range []func(h *host, l *core.Leadership){
			func(_ *host, l *core.Leadership) { resign(t, l) },
			func(h *host, _ *core.Leadership) { h.clock.Step(2 * term) },
		} {
			h := w.host("a", nil)
			l := h.lead(t)
			end(h, l)
			h.door.forget()
			if l.Renew(t.Context()) == nil || l.SaveCheckpoint(t.Context(), nil) == nil {
				t.Error("a reign that is over was renewed")
			}
			h.door.wantRequests(t, "renewing after the end", 0, 0)
			resign(t, l)
		}
	})
}

// Callbacks that never come back delay nothing.
func TestHoldingSlowCallbacks(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.OnEvent = func(core.Event) { time.Sleep(10 * term) }
		h.LeaderChanged = func(context.Context, entry.RaceEntry) { time.Sleep(10 * term) }
		h.OnElected = func(context.Context, *core.TimeView) { time.Sleep(10 * term) }
		ctx, cancel := context.WithCancel(t.Context())
		w.run(func() { _ = h.Acquire(ctx) })
		time.Sleep(5*term + term/2)
		cancel()
		var last time.Time
		renewals := 0
		for _, c := range h.door.log() {
			if c.op != write {
				continue
			}
			if gap := c.at.Sub(last); renewals > 0 && gap > term/3+time.Microsecond {
				t.Errorf("%v between two renewals, want a third of the term", gap)
			}
			last = c.at
			renewals++
		}
		if renewals != 17 { // the win, and 16 renewals in 5.5 terms
			t.Errorf("%d writes in five and a half terms", renewals)
		}
	})
}

// The reign ends with the context that it was begun with, for that one's reason.
func TestHoldingParentEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		deploy := errors.New("a new version is rolled out")
		ctx, cancel := context.WithCancelCause(t.Context())
		l := h.winIn(t, ctx)
		bound, release := l.Bind(t.Context())
		defer release()
		time.Sleep(term)
		cancel(deploy)
		if err := l.Check(); !errors.Is(err, deploy) {
			t.Errorf("Check = %v", err)
		}
		wantOver(t, l, deploy)
		if !errors.Is(context.Cause(bound), deploy) {
			t.Errorf("a bound context's cause is %v", context.Cause(bound))
		}
		resign(t, l)
		if !w.stored(t).Vacant() {
			t.Error("not resigned")
		}
	})
}

// What the leadership tells about itself.
func TestHoldingWhatTheLeadershipTells(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.HostPort, h.ConnectionParams = []string{"10.0.0.1:80"}, []byte("params")
		won := time.Now()
		l := h.win(t)
		if got := l.Expiration().Get(); got.Sub(won).Abs() > term+time.Microsecond || got.Sub(won) < term-time.Microsecond {
			t.Errorf("Expiration shows %v after the win", got.Sub(won))
		}
		time.Sleep(term / 2)
		if got := l.LastRenewed().Sub(won); got < term/3 || got > term/3+time.Microsecond {
			t.Errorf("LastRenewed is %v after the win, want a third of the term", got)
		}
		e, got := l.Entry(), w.stored(t)
		if e.Nonce != got.Nonce || e.LeaderID != "a" || e.HostPort[0] != "10.0.0.1:80" || string(e.ConnectionParams) != "params" {
			t.Errorf("Entry = %+v", e)
		}
		e.HostPort[0], e.ConnectionParams[0] = "changed", 'X'
		if again := l.Entry(); again.HostPort[0] != "10.0.0.1:80" || string(again.ConnectionParams) != "params" {
			t.Error("whoever changes what Entry returned changes the leadership")
		}
		if from, ok := core.FromContext(l.Context()); !ok || from != l {
			t.Error("FromContext does not find the leadership")
		}
		if _, ok := core.FromContext(t.Context()); ok {
			t.Error("FromContext finds a leadership where none is")
		}
		resign(t, l)
	})
}
