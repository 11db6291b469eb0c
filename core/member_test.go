package core_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

var errShutdown = errors.New("shutting down")

// A member leads for many terms; when it is told to end its work stops first, then
// it resigns, then RunElection returns.
func TestMemberLeadsUntilItsContextEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.work = func(ctx context.Context) {
			<-ctx.Done()
			m.tell("cause: " + context.Cause(ctx).Error())
			time.Sleep(term / 2)
			if w.stored(t).Vacant() {
				t.Error("resigned before the work had stopped")
			}
			m.tell("worked")
		}
		m.config.Callbacks.OnStoppedLeading = func() {
			if w.stored(t).Vacant() {
				t.Error("resigned before OnStoppedLeading")
			}
			synctest.Wait() // the work has told the cause by now
			m.tell("stopped")
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		e := w.elect(t, ctx, m)
		time.Sleep(5 * term)
		m.wantNews(t, "a")
		e.running(t)
		m.wantStory(t, "started")
		if s := w.stored(t); s.LeaderID != "a" || len(s.HostPort) != 1 || s.HostPort[0] != "a.example:7000" || s.TermLength != term {
			t.Errorf("stored: %+v", s)
		}
		cancel(errShutdown)
		if err := e.wait(); err != nil {
			t.Error(err)
		}
		m.wantStory(t, "started cause: shutting down stopped worked")
		if !w.stored(t).Vacant() {
			t.Errorf("not resigned: %+v", w.stored(t))
		}
		if took := e.at.Sub(began.Add(5*term + term/2)); took > time.Second {
			t.Errorf("%v after the work had ended", took)
		}
	})
}

// What is free is taken at once, whatever made it so.
func TestMemberWaitsForNothingThatAProofMakesUnnecessary(t *testing.T) {
	for name, setup := range map[string]func(w *world){
		"nothing is stored": func(*world) {},
		"vacant":            func(w *world) { w.store.Lead("b", time.Hour); w.store.Lead("", time.Hour) },
		"long over by the clock": func(w *world) {
			w.store.Lead("b", term)
			time.Sleep(2 * term)
		},
		"just over by the store's time": func(w *world) {
			w.tellTime(0)
			w.store.Lead("b", term)
			time.Sleep(term + 3*time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				setup(w)
				m := w.member("a", nil)
				ctx, cancel := context.WithCancel(t.Context())
				began := time.Now()
				m.work = func(context.Context) {
					if took := time.Since(began); took > time.Microsecond {
						t.Errorf("led after %v", took)
					}
					cancel()
				}
				if err := w.elect(t, ctx, m).wait(); err != nil {
					t.Error(err)
				}
				m.wantStory(t, "started stopped")
				m.host.door.wantRequests(t, "an election from the win to the resignation", 1, 2)
			})
		})
	}
}

// Two members: the second leads as soon as the first has resigned, and both hear of both.
func TestMemberFollowsAMember(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.member("a", nil), w.member("b", nil)
		ctxA, cancelA := context.WithCancel(t.Context())
		ctxB, cancelB := context.WithCancel(t.Context())
		first := w.elect(t, ctxA, a)
		time.Sleep(time.Second)
		second := w.elect(t, ctxB, b)
		time.Sleep(3 * term)
		b.wantStory(t, "")
		b.wantNews(t, "a")
		cancelA()
		if err := first.wait(); err != nil {
			t.Error(err)
		}
		time.Sleep(term/5 + time.Second)
		b.wantStory(t, "started")
		b.wantNews(t, "a b")
		cancelB()
		if err := second.wait(); err != nil {
			t.Error(err)
		}
		a.wantNews(t, "a")
	})
}

func TestMemberGoesOnLeadingWhenItsWorkReturns(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.work = func(context.Context) {}
		ctx, cancel := context.WithCancel(t.Context())
		e := w.elect(t, ctx, m)
		time.Sleep(3 * term)
		e.running(t)
		m.wantStory(t, "started")
		if l := w.stored(t); l.LeaderID != "a" || l.ElectionNumber < 6 {
			t.Errorf("it does not renew: %+v", l)
		}
		cancel()
		if err := e.wait(); err != nil {
			t.Error(err)
		}
		m.wantStory(t, "started stopped")
	})
}

// Work that does not heed its context is waited for, and nothing is resigned under
// it. The others wait for the term, no longer.
func TestMemberWhoseWorkIgnoresItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.member("a", nil), w.member("b", nil)
		release := make(chan struct{})
		a.work = func(context.Context) { <-release }
		ctx, cancel := context.WithCancel(t.Context())
		first := w.elect(t, ctx, a)
		time.Sleep(time.Second)
		cancel()
		a.wantStory(t, "started stopped")
		first.running(t)
		if w.stored(t).Vacant() {
			t.Error("resigned while the work runs")
		}
		ctxB, cancelB := context.WithCancel(t.Context())
		second := w.elect(t, ctxB, b)
		time.Sleep(2 * term)
		b.wantStory(t, "started")
		first.running(t)
		close(release)
		// It was over before the work was: the other has led beside it.
		if err := first.wait(); !errors.Is(err, core.ErrTermExpired) || errors.Is(err, core.ErrNotResigned) {
			t.Error(err)
		}
		second.running(t)
		cancelB()
		if err := second.wait(); err != nil {
			t.Error(err)
		}
	})
}

// OnStoppedLeading may be what makes OnStartedLeading return.
func TestMemberIsStoppedByOnStoppedLeading(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		release := make(chan struct{})
		m.work = func(context.Context) { <-release }
		m.config.Callbacks.OnStoppedLeading = func() { close(release) }
		ctx, cancel := context.WithCancel(t.Context())
		e := w.elect(t, ctx, m)
		time.Sleep(time.Second)
		cancel()
		if err := e.wait(); err != nil || !w.stored(t).Vacant() {
			t.Errorf("%v, stored %+v", err, w.stored(t))
		}
	})
}

// The work finds the Leadership, and may resign it: then RunElection has done its part.
func TestMemberThatResigns(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.work = func(ctx context.Context) {
			l, ok := core.FromContext(ctx)
			if !ok || l.FencingToken() != 1 {
				t.Errorf("no Leadership with fencing token 1 in the context")
				return
			}
			resign(t, l)
		}
		if err := w.elect(t, t.Context(), m).wait(); err != nil {
			t.Error(err)
		}
		m.wantStory(t, "started stopped")
	})
}

// A panic is the program's own. Nothing is hidden, and nothing hangs.
func TestMemberWhoseOnStoppedLeadingPanics(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.config.Callbacks.OnStoppedLeading = func() { panic("stopped") }
		ctx, cancel := context.WithCancel(t.Context())
		m.work = func(ctx context.Context) { cancel() }
		defer func() {
			if p := recover(); p != "stopped" {
				t.Errorf("panic %v", p)
			}
			if w.stored(t).Vacant() {
				t.Error("it has resigned")
			}
		}()
		_ = core.RunElection(ctx, &m.config)
	})
}
