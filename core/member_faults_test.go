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
)

// Whatever ends a leadership ends RunElection with that reason, after one pair of
// callbacks, and nobody campaigns again.
func TestMemberLosesItsLeadership(t *testing.T) {
	for name, tc := range map[string]struct {
		fault func(t *testing.T, w *world, m *member)
		want  []error
		cause error
	}{
		"somebody else leads": {func(t *testing.T, w *world, m *member) { w.store.Lead("b", time.Hour) },
			[]error{core.ErrLeadershipLost}, core.ErrLeadershipLost},
		"somebody with the same ID leads": {func(t *testing.T, w *world, m *member) { w.store.Lead("a", time.Hour) },
			[]error{core.ErrLeadershipLost, core.ErrDuplicateMember}, core.ErrLeadershipLost},
		"an old entry of the same ID was restored": {func(t *testing.T, w *world, m *member) {
			w.store.Plant(entry.RaceEntry{LeaderID: "a", TermLength: term, TermExpiry: time.Now(), Nonce: "old"})
		}, []error{core.ErrLeadershipLost}, core.ErrLeadershipLost},
		"the entry was deleted": {func(t *testing.T, w *world, m *member) { w.store.Delete() },
			[]error{core.ErrLeadershipLost}, core.ErrLeadershipLost},
		"rubbish is stored": {func(t *testing.T, w *world, m *member) { w.store.PlantRaw([]byte("rubbish")) },
			[]error{core.ErrLeadershipLost}, core.ErrLeadershipLost},
		"the store is gone": {func(t *testing.T, w *world, m *member) {
			m.host.door.all(write, fault{kind: hang})
			m.host.door.all(read, fault{kind: hang})
		}, []error{core.ErrTermExpired, core.ErrNotResigned}, core.ErrTermExpired},
		"the store's calls are stuck": {func(t *testing.T, w *world, m *member) {
			m.host.door.all(write, fault{kind: stuck, d: 3 * term})
			m.host.door.all(read, fault{kind: stuck, d: 3 * term})
		}, []error{core.ErrTermExpired, core.ErrNotResigned}, core.ErrTermExpired},
		"the store is gone until the term is over": {func(t *testing.T, w *world, m *member) {
			m.host.door.all(write, fault{kind: refuse})
			m.mu.Lock()
			defer m.mu.Unlock()
			m.stopped = func() { m.host.door.all(write, fault{}) }
		}, []error{core.ErrTermExpired}, core.ErrTermExpired},
		"the store is broken": {func(t *testing.T, w *world, m *member) {
			m.host.door.all(write, fault{kind: refuse, err: fmt.Errorf("denied: %w", core.ErrBroken)})
		}, []error{core.ErrTermExpired, core.ErrNotResigned, core.ErrBroken}, core.ErrTermExpired},
		"the host was frozen": {func(t *testing.T, w *world, m *member) { m.host.clock.Step(2 * term) },
			[]error{core.ErrTermExpired}, core.ErrTermExpired},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := w.member("a", nil)
				e := w.elect(t, t.Context(), m)
				time.Sleep(2 * term)
				e.running(t)
				tc.fault(t, w, m)
				faulty := time.Now()
				wantOnly(t, e.wait(), tc.want...)
				m.wantStory(t, "started stopped")
				if !errors.Is(m.cause, tc.cause) {
					t.Errorf("the cause of the work's end is %v", m.cause)
				}
				if took := e.at.Sub(faulty); took > term+term/2 {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// What only looks like a loss ends nothing.
func TestMemberSurvivesFaults(t *testing.T) {
	for name, set := range map[string]func(d *door){
		"the win's answer is lost":        func(d *door) { d.then(write, fault{kind: lose}) },
		"the win arrives late":            func(d *door) { d.then(write, fault{kind: late, d: time.Second}) },
		"the win is sent twice":           func(d *door) { d.then(write, fault{kind: duplicate}) },
		"no answer to a look":             func(d *door) { d.then(read, fault{kind: hang}, fault{kind: refuse}) },
		"renewals' answers are lost":      func(d *door) { d.then(write, fault{}, fault{kind: lose}, fault{kind: lose}, fault{kind: hangAfter}) },
		"renewals are sent twice":         func(d *door) { d.then(write, fault{}, fault{kind: duplicate}, fault{kind: duplicate}) },
		"a renewal arrives late":          func(d *door) { d.then(write, fault{}, fault{kind: late, d: time.Second}) },
		"the store is gone for half term": func(d *door) { d.then(write, fault{}, fault{kind: refuse}, fault{kind: refuse}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := w.member("a", nil)
				set(m.host.door)
				ctx, cancel := context.WithCancel(t.Context())
				e := w.elect(t, ctx, m)
				time.Sleep(5 * term)
				e.running(t)
				m.wantStory(t, "started")
				m.wantNews(t, "a")
				m.host.door.then(write, fault{kind: lose}) // the resignation's answer
				cancel()
				if err := e.wait(); err != nil || !w.stored(t).Vacant() {
					t.Errorf("%v, stored %+v", err, w.stored(t))
				}
				m.wantStory(t, "started stopped")
			})
		})
	}
}

// A shutdown while the store is gone is told, and is no crash.
func TestMemberThatCannotResign(t *testing.T) {
	for name, f := range map[string]fault{
		"gone": {kind: refuse}, "hangs": {kind: hang}, "broken": {kind: refuse, err: core.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := w.member("a", nil)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(term, func() {
					m.host.door.all(write, f)
					m.host.door.all(read, f)
					cancel()
				})
				began := time.Now()
				err := core.RunElectionOrDie(ctx, &m.config)
				if !errors.Is(err, core.ErrNotResigned) || errors.Is(err, core.ErrTermExpired) || !strings.Contains(err.Error(), `"nightly"`) {
					t.Errorf("%v, want ErrNotResigned alone", err)
				}
				if took := time.Since(began); took > 2*term+term/2 {
					t.Errorf("returned after %v: nobody gains by more than the term", took)
				}
				m.wantStory(t, "started stopped")
			})
		})
	}
}

func TestRunElectionOrDie(t *testing.T) {
	die := func(m *member, ctx context.Context) (p any, err error) {
		defer func() { p = recover() }()
		return nil, core.RunElectionOrDie(ctx, &m.config)
	}
	t.Run("nil", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			m := w.member("a", nil)
			ctx, cancel := context.WithCancel(t.Context())
			m.work = func(context.Context) { cancel() }
			if p, err := die(m, ctx); err != nil || p != nil {
				t.Errorf("%v, panic %v", err, p)
			}
		})
	})
	for name, tc := range map[string]struct {
		set  func(w *world, m *member)
		want error
	}{
		"invalid": {func(w *world, m *member) { m.config.Name = "" }, core.ErrInvalidConfig},
		"broken":  {func(w *world, m *member) { m.host.door.all(read, fault{kind: refuse, err: core.ErrBroken}) }, core.ErrBroken},
		"open":    {func(w *world, m *member) { m.config.Open = failOpen }, errOpen},
		"lost":    {func(w *world, m *member) { m.work = func(context.Context) { w.store.Lead("b", term) } }, core.ErrLeadershipLost},
		"not resigned and expired": {func(w *world, m *member) {
			m.host.door.then(write, fault{})
			m.host.door.all(write, fault{kind: refuse})
		}, core.ErrTermExpired},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := w.member("a", nil)
				tc.set(w, m)
				p, _ := die(m, t.Context())
				if err, ok := p.(error); !ok || !errors.Is(err, tc.want) {
					t.Errorf("panic %v, want %v", p, tc.want)
				}
			})
		})
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("without a config: panic %v", err)
		}
	}()
	_ = core.RunElectionOrDie(t.Context(), nil)
}

func failOpen(context.Context, string) (core.RaceDecider, error) { return nil, errOpen }

// While nothing is led: a broken store ends it, everything else is waited for.
func TestMemberCampaignsThroughFaults(t *testing.T) {
	t.Run("broken", func(t *testing.T) {
		for _, o := range []op{read, write} {
			bubble(t, func(t *testing.T, w *world) {
				m := w.member("a", nil)
				m.host.door.all(o, fault{kind: refuse, err: fmt.Errorf("denied: %w", core.ErrBroken)})
				wantOnly(t, w.elect(t, t.Context(), m).wait(), core.ErrBroken)
				m.wantStory(t, "")
			})
		}
	})
	t.Run("a bad entry", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			w.store.PlantRaw([]byte("rubbish"))
			m := w.member("a", nil)
			ctx, cancel := context.WithCancel(t.Context())
			e := w.elect(t, ctx, m)
			time.Sleep(100 * term)
			e.running(t)
			if len(m.host.told(core.EventBadEntry)) == 0 {
				t.Error("nobody was told")
			}
			w.store.Lead("", term) // an operator breaks it
			time.Sleep(term)
			m.wantStory(t, "started")
			cancel()
			if err := e.wait(); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("gone for long", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			m := w.member("a", nil)
			m.host.door.all(read, fault{kind: hang})
			ctx, cancel := context.WithCancel(t.Context())
			e := w.elect(t, ctx, m)
			time.Sleep(100 * term)
			e.running(t)
			m.host.door.all(read, fault{})
			time.Sleep(term)
			m.wantStory(t, "started")
			cancel()
			if err := e.wait(); err != nil {
				t.Error(err)
			}
		})
	})
}
