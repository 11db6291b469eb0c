package core_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// OnNewLeader hears of every leader once, of no renewal and no vacancy. Each step is
// what is stored at one of the member's looks.
func TestMemberNews(t *testing.T) {
	lead := func(id string) func(*testing.T, *world) {
		return func(_ *testing.T, w *world) { w.store.Lead(id, time.Hour) }
	}
	renew := func(t *testing.T, w *world) { w.prolong(t, time.Now().String()) }
	held := func(t *testing.T, w *world) {
		e := w.prolong(t, "held")
		e.Held = true
		w.store.Plant(e)
	}
	// The member cannot win: its writes are not answered.
	for name, tc := range map[string]struct {
		steps []func(*testing.T, *world)
		want  string
	}{
		"the first":           {[]func(*testing.T, *world){lead("b")}, "b"},
		"a renewal":           {[]func(*testing.T, *world){lead("b"), renew, renew}, "b"},
		"a change":            {[]func(*testing.T, *world){lead("b"), lead("c"), lead("d")}, "b c d"},
		"back again":          {[]func(*testing.T, *world){lead("b"), lead("c"), lead("b")}, "b c b"},
		"a new reign of it":   {[]func(*testing.T, *world){lead("b"), lead("b")}, "b"},
		"a vacancy":           {[]func(*testing.T, *world){lead("b"), lead("")}, "b"},
		"again after vacancy": {[]func(*testing.T, *world){lead("b"), lead(""), lead("b")}, "b b"},
		"vacant first":        {[]func(*testing.T, *world){lead(""), lead("b")}, "b"},
		"deleted":             {[]func(*testing.T, *world){lead("b"), func(_ *testing.T, w *world) { w.store.Delete() }, lead("b")}, "b b"},
		"held is over":        {[]func(*testing.T, *world){lead("b"), held}, "b"},
		"again after held":    {[]func(*testing.T, *world){lead("b"), held, lead("b")}, "b b"},
		"held first":          {[]func(*testing.T, *world){lead("b"), held, lead("c")}, "b c"},
		"rubbish in between": {[]func(*testing.T, *world){lead("b"), func(_ *testing.T, w *world) { w.store.PlantRaw([]byte("rubbish")) },
			func(_ *testing.T, w *world) {
				w.store.Plant(entry.RaceEntry{LeaderID: "b", TermLength: time.Hour, Nonce: "n", TermExpiry: time.Now().Add(time.Hour)})
			}}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := w.member("z", nil)
				m.host.door.all(write, fault{kind: refuse})
				ctx, cancel := context.WithCancel(t.Context())
				tc.steps[0](t, w)
				e := w.elect(t, ctx, m)
				for _, step := range tc.steps[1:] {
					time.Sleep(3 * term) // more than a poll and every pause after a failure
					step(t, w)
				}
				time.Sleep(3 * term)
				m.wantNews(t, tc.want)
				cancel()
				if err := e.wait(); err != nil {
					t.Error(err)
				}
				m.wantNews(t, tc.want)
				m.wantStory(t, "")
			})
		})
	}
}

// A slow OnNewLeader delays nothing, misses nothing, and is waited for.
func TestMemberSlowOnNewLeader(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("b", time.Hour)
		m := w.member("a", nil)
		m.config.Callbacks.OnNewLeader = func(id string) {
			time.Sleep(time.Hour)
			m.tell("leader " + id)
		}
		ctx, cancel := context.WithCancel(t.Context())
		e := w.elect(t, ctx, m)
		for _, id := range []string{"c", "b", "d", ""} {
			time.Sleep(term)
			w.store.Lead(id, time.Hour)
		}
		time.Sleep(term)
		m.wantStory(t, "started")
		m.wantNews(t, "")
		if s := w.stored(t); s.LeaderID != "a" {
			t.Errorf("stored: %+v", s)
		}
		cancel()
		time.Sleep(term)
		m.wantStory(t, "started stopped")
		if !w.stored(t).Vacant() {
			t.Error("the resignation waits for OnNewLeader")
		}
		e.running(t)
		if err := e.wait(); err != nil {
			t.Error(err)
		}
		m.wantNews(t, "b c b d a")
	})
}

// The same where nothing was led.
func TestMemberWaitsForOnNewLeaderWithoutAWin(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("b", time.Hour)
		m := w.member("a", nil)
		m.config.Callbacks.OnNewLeader = func(id string) {
			time.Sleep(time.Hour)
			m.tell("leader " + id)
		}
		ctx, cancel := context.WithTimeout(t.Context(), term)
		defer cancel()
		if err := w.elect(t, ctx, m).wait(); err != nil {
			t.Error(err)
		}
		m.wantNews(t, "b")
	})
}

// Slow and hanging events keep the news from nobody.
func TestMemberNewsDoNotWaitForEvents(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("b", time.Hour)
		m := w.member("a", nil)
		release := make(chan struct{})
		m.config.OnEvent = func(core.Event) { <-release }
		ctx, cancel := context.WithCancel(t.Context())
		e := w.elect(t, ctx, m)
		time.Sleep(term)
		w.store.Lead("", term)
		time.Sleep(term)
		m.wantNews(t, "b a")
		m.wantStory(t, "started")
		cancel()
		time.Sleep(term)
		if !w.stored(t).Vacant() {
			t.Error("the resignation waits for OnEvent")
		}
		e.running(t)
		close(release)
		if err := e.wait(); err != nil {
			t.Error(err)
		}
	})
}

// A callback that ends its goroutine, as a failing test does, hangs nothing.
func TestMemberWhoseCallbacksEndTheirGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.config.Callbacks.OnNewLeader = func(id string) {
			m.tell("leader " + id)
			runtime.Goexit()
		}
		m.work = func(context.Context) { runtime.Goexit() }
		w.store.Lead("b", time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		e := w.elect(t, ctx, m)
		time.Sleep(term)
		w.store.Lead("", term)
		time.Sleep(term)
		e.running(t)
		m.wantNews(t, "b a")
		cancel()
		if err := e.wait(); err != nil {
			t.Error(err)
		}
		m.wantStory(t, "started stopped")
	})
}
