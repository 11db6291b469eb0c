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

// Two members that start with one ID: the loser finds out, the winner leads on.
func TestMembersWithOneIDAtTheSameTime(t *testing.T) {
	for lag := range 4 {
		t.Run(fmt.Sprint(lag), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				one, two := w.member("a", nil), w.member("a", nil)
				ctx, cancel := context.WithCancel(t.Context())
				first := w.elect(t, ctx, one)
				time.Sleep(time.Duration(lag) * term / 3)
				second := w.elect(t, ctx, two)
				winner, loser, leading := one, two, first
				select {
				case <-second.returned:
				case <-first.returned:
					winner, loser, leading = two, one, second
					first, second = second, first
				}
				wantOnly(t, second.wait(), core.ErrDuplicateMember)
				for _, says := range []string{`"a"`, "a.example:7000", "fencing token 1", "give every member an ID of its own"} {
					if !strings.Contains(second.err.Error(), says) {
						t.Errorf("%v does not say %s", second.err, says)
					}
				}
				loser.wantStory(t, "")
				loser.wantNews(t, "a")
				leading.running(t)
				winner.wantStory(t, "started")
				time.Sleep(5 * term)
				leading.running(t)
				cancel()
				if err := leading.wait(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// crashed plants what an incarnation of "a" has left that crashed just now.
func (w *world) crashed() {
	w.store.Plant(entry.RaceEntry{LeaderID: "a", TermLength: term, TermExpiry: time.Now().Add(term),
		ElectionNumber: 7, FencingToken: 3, Nonce: "crashed"})
}

// An incarnation that has crashed is waited out, also when its last renewal, or its
// last attempt to win, arrives late.
func TestMemberThatStartsAgainAfterACrash(t *testing.T) {
	for name, late := range map[string]func(t *testing.T, w *world){
		"nothing late":     func(*testing.T, *world) {},
		"a late renewal":   func(t *testing.T, w *world) { w.prolong(t, "late") },
		"a late win":       func(t *testing.T, w *world) { w.store.Lead("a", term) },
		"late resignation": func(t *testing.T, w *world) { w.store.Lead("", term) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.crashed()
				m := w.member("a", nil)
				ctx, cancel := context.WithCancel(t.Context())
				began := time.Now()
				e := w.elect(t, ctx, m)
				time.Sleep(term / 2)
				late(t, w)
				time.Sleep(time.Until(began.Add(2*term + term/5)))
				e.running(t)
				m.wantStory(t, "started")
				time.Sleep(2 * term) // and its own renewals are nobody else's
				e.running(t)
				cancel()
				if err := e.wait(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The term is over in the middle of the work, and the process takes part again at
// once, while a write of the first time is still under way.
func TestMemberThatStartsAgainInTheSameProcess(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.host.door.then(write, fault{}, fault{}, fault{kind: late, d: 2 * term})
		e := w.elect(t, t.Context(), m)
		time.Sleep(term / 2)
		m.host.clock.Step(2 * term)
		wantOnly(t, e.wait(), core.ErrTermExpired, core.ErrNotResigned)
		m.wantStory(t, "started stopped")
		again := w.member("a", nil)
		ctx, cancel := context.WithCancel(t.Context())
		e = w.elect(t, ctx, again)
		time.Sleep(4 * term)
		e.running(t)
		again.wantStory(t, "started")
		cancel()
		if err := e.wait(); err != nil {
			t.Error(err)
		}
	})
}

// The second renewal proves it, whether a look fell between the two or not.
func TestMemberThatSeesItsTwinRenew(t *testing.T) {
	for name, between := range map[string]time.Duration{"with a look in between": term / 2, "without": 0} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.crashed()
				m := w.member("a", nil)
				e := w.elect(t, t.Context(), m)
				time.Sleep(term / 2)
				w.prolong(t, "one")
				time.Sleep(between)
				e.running(t)
				w.prolong(t, "two")
				second := time.Now()
				wantOnly(t, e.wait(), core.ErrDuplicateMember)
				if took := e.at.Sub(second); took > term/5+time.Second {
					t.Errorf("found out after %v", took)
				}
				m.wantStory(t, "")
			})
		})
	}
}

// Others' renewals, and those of an ID that only begins like ours, are nobody's twin.
func TestMemberThatSeesOthersRenew(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("aa", 2*term)
		m := w.member("a", nil)
		ctx, cancel := context.WithCancel(t.Context())
		e := w.elect(t, ctx, m)
		for i := range 10 {
			time.Sleep(term)
			w.prolong(t, fmt.Sprint(i))
		}
		e.running(t)
		cancel()
		if err := e.wait(); err != nil {
			t.Error(err)
		}
	})
}

// A member that was cut off, or frozen, until a namesake took over learns that it was
// one: a supervisor that starts it again would otherwise do so for ever.
func TestMemberWhoseTermEndedUnderATwinIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.stopped = func() { // its term has just expired
			now := w.stored(t)
			now.ElectionNumber, now.FencingToken, now.Nonce = now.ElectionNumber+1, now.FencingToken+1, "twin"
			w.store.Plant(now)
			m.host.door.all(read, fault{})
			m.host.door.all(write, fault{})
		}
		e := w.elect(t, t.Context(), m)
		time.Sleep(time.Second)
		m.host.door.all(read, fault{kind: refuse})
		m.host.door.all(write, fault{kind: refuse})
		err := e.wait()
		if !errors.Is(err, core.ErrTermExpired) || !errors.Is(err, core.ErrDuplicateMember) {
			t.Errorf("%v, want ErrTermExpired and ErrDuplicateMember", err)
		}
		m.wantStory(t, "started stopped")
	})
}
