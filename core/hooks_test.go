package core

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core/entry"
)

// leads is an entry of the reign with this token.
func leads(id string, token int64) *entry.RaceEntry {
	return &entry.RaceEntry{LeaderID: id, FencingToken: token, TermLength: time.Second}
}

// TestLeaderChangedOncePerReign: a change of leader or of reign, the first one
// included, and the vacancy after it; never a renewal.
func TestLeaderChangedOncePerReign(t *testing.T) {
	held := leads("a", 2)
	held.Held = true
	vacant := leads("", 2)
	steps := []struct {
		name string
		e    *entry.RaceEntry
		told bool
	}{
		{"nothing stored", noEntry(), false},
		{"vacant at the start", leads("", 7), false},
		{"the first leader", leads("a", 1), true},
		{"a renewal", leads("a", 1), false},
		{"another reign of the same leader", leads("a", 2), true},
		{"it finished, and holds the election", held, true},
		{"still", held, false},
		{"it resigned", vacant, true},
		{"still vacant", vacant, false},
		{"the entry is gone", noEntry(), false},
		{"another leader", leads("b", 3), true},
		{"another one with the same token", leads("c", 3), true},
		{"the entry is gone under a leader", noEntry(), true},
		{"the same leader again", leads("c", 3), true},
	}
	synctest.Test(t, func(t *testing.T) {
		var told, events []*entry.RaceEntry
		type key struct{}
		ctx := context.WithValue(t.Context(), key{}, "the call's")
		h := newHooks(ctx, &settings{Config: Config{
			LeaderChanged: func(ctx context.Context, e entry.RaceEntry) {
				if ctx.Value(key{}) != "the call's" {
					t.Error("LeaderChanged got another context")
				}
				told = append(told, &e)
			},
			OnEvent: func(e Event) {
				if e.Kind != EventLeaderChanged {
					t.Errorf("%v", e.Kind)
				}
				events = append(events, &e.Entry)
			},
		}})
		for _, step := range steps {
			told, events = nil, nil
			h.sawLeader(at(0), step.e)
			h.drain(nil)
			want := 0
			if step.told {
				want = 1
			}
			if len(told) != want || len(events) != want {
				t.Errorf("%s: told %d times, %d events; want %d", step.name, len(told), len(events), want)
				continue
			}
			for _, got := range append(told, events...) {
				if !sameVersion(got, step.e) || got.FencingToken != step.e.FencingToken {
					t.Errorf("%s: told %+v", step.name, got)
				}
			}
		}
	})
}

// TestSlowLeaderChangedGetsTheNewest: what passed while it ran is left out, and
// nothing is told out of order or twice.
func TestSlowLeaderChangedGetsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []int64
		running := 0
		h := newHooks(t.Context(), &settings{Config: Config{LeaderChanged: func(_ context.Context, e entry.RaceEntry) {
			if running++; running > 1 {
				t.Error("called while it runs")
			}
			told = append(told, e.FencingToken)
			time.Sleep(time.Second)
			running--
		}}})
		for token := int64(1); token <= 50; token++ {
			h.sawLeader(at(0), leads("a", token))
			if token == 1 {
				synctest.Wait()
			}
			if token == 10 {
				time.Sleep(1500 * time.Millisecond) // the second call has begun, with number 10
			}
		}
		h.drain(nil)
		if !slices.Equal(told, []int64{1, 10, 50}) {
			t.Errorf("told of %v, want 1, and the newest after each call", told)
		}
	})
}

// TestEventsInOrder: from one goroutine, in the order of telling, with the
// candidate's name and time, and an entry of their own.
func TestEventsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []time.Duration
		running := false
		h := newHooks(t.Context(), &settings{Config: Config{LeaderID: "me", OnEvent: func(e Event) {
			if running {
				t.Error("called while it runs")
			}
			running = true
			time.Sleep(time.Millisecond)
			running = false
			got = append(got, e.Wait)
			if e.LeaderID != "me" || !e.Time.Equal(noon.Add(e.Wait)) || e.Missed != 0 {
				t.Errorf("%+v", e)
			}
			if !slices.Equal(e.Entry.HostPort, []string{"a:1"}) {
				t.Errorf("entry %v was changed after it was told", e.Entry.HostPort)
			}
		}}})
		hostPort := []string{"a:1"}
		for i := range time.Duration(500) {
			hostPort[0] = "a:1"
			h.tell(at(i), Event{Kind: EventWaiting, Wait: i, Entry: entry.RaceEntry{HostPort: hostPort}})
			hostPort[0] = "changed"
		}
		h.drain(nil)
		if len(got) != 500 || !slices.IsSorted(got) {
			t.Errorf("%d events, in order %v", len(got), slices.IsSorted(got))
		}
	})
}

// TestMissedEventsAreCounted, to the last one: the count comes with the event
// after the gap, or by itself if none has come by the time the hook has caught up.
func TestMissedEventsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var got []Event
		h := newHooks(t.Context(), &settings{Config: Config{LeaderID: "me", OnEvent: func(e Event) {
			<-gate
			got = append(got, e)
		}}})
		n := time.Duration(0)
		tell := func(times int) {
			for range times {
				h.tell(at(0), Event{Kind: EventWaiting, Wait: n})
				n++
			}
		}
		tell(1)
		synctest.Wait() // the hook hangs on the first one
		tell(maxQueued)
		tell(7) // too much
		gate <- struct{}{}
		synctest.Wait() // it hangs on the second one, and the queue is empty
		tell(1)
		tell(maxQueued) // and one too much again
		close(gate)
		synctest.Wait()
		tell(1)
		h.drain(nil)
		came, missed, last, alone := 0, 0, time.Duration(-1), 0
		for _, e := range got {
			missed += e.Missed
			if e.Kind == EventMissed {
				if e.Missed == 0 || e.LeaderID != "me" {
					t.Errorf("%+v", e)
				}
				alone++
				last += time.Duration(e.Missed)
				continue
			}
			came++
			if e.Wait != last+1+time.Duration(e.Missed) {
				t.Errorf("event %d came after %d, and says that %d are missing", e.Wait, last, e.Missed)
			}
			last = e.Wait
		}
		if missed != 8 || came+missed != int(n) || alone != 1 {
			t.Errorf("%d events told, %d came, %d counted as missed, %d times alone", n, came, missed, alone)
		}
	})
}

// TestHooksMayUseWhatCallsThem: telling never waits for a hook.
func TestHooksMayUseWhatCallsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kinds []EventKind
		var h *hooks
		h = newHooks(t.Context(), &settings{Config: Config{
			LeaderChanged: func(_ context.Context, e entry.RaceEntry) {
				if e.LeaderID == "a" {
					h.sawLeader(at(0), leads("b", 2))
				}
			},
			OnEvent: func(e Event) {
				if kinds = append(kinds, e.Kind); e.Kind == EventLeaderChanged {
					h.tell(at(0), Event{Kind: EventWaiting})
				}
			},
		}})
		h.sawLeader(at(0), leads("a", 1))
		h.drain(nil)
		if len(kinds) != 4 {
			t.Errorf("%v, want two changes and what the hook told", kinds)
		}
	})
}

func TestDrain(t *testing.T) {
	defer goleak.VerifyNone(t)
	newHooks(t.Context(), &settings{}).drain(nil) // nothing ever ran

	gate, began := make(chan struct{}), make(chan struct{})
	h := newHooks(t.Context(), &settings{Config: Config{
		OnEvent:       func(Event) { close(began); <-gate },
		LeaderChanged: func(context.Context, entry.RaceEntry) { <-gate },
	}})
	h.sawLeader(at(0), leads("a", 1))
	<-began
	gaveUp := make(chan struct{})
	close(gaveUp)
	h.drain(gaveUp) // returns although both hang

	drained := make(chan struct{})
	go func() {
		h.drain(nil)
		close(drained)
	}()
	select {
	case <-drained:
		t.Error("drained while both run")
	default:
	}
	close(gate)
	<-drained
	h.drain(nil)
}

// TestNobodyListens: without hooks nothing is kept and nothing runs.
func TestNobodyListens(t *testing.T) {
	defer goleak.VerifyNone(t)
	h := newHooks(t.Context(), &settings{})
	h.sawLeader(at(0), leads("a", 1))
	h.tell(at(0), Event{Kind: EventElected})
	h.sawOffset(at(0), time.Hour)
	h.drain(nil)
	if h != nil || h.wantsEvents() {
		t.Errorf("%+v", h)
	}
}

// TestClockOffsetIsToldOnce, and again only after the clocks agreed.
func TestClockOffsetIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []time.Duration
		h := newHooks(t.Context(), &settings{Config: Config{MaxClockSkew: time.Second, OnEvent: func(e Event) {
			if e.Kind != EventClockOffset {
				t.Errorf("%v", e.Kind)
			}
			got = append(got, e.ClockOffset)
		}}})
		for _, d := range []time.Duration{0, time.Second, -time.Second, time.Second + 1, time.Minute, -time.Minute, 0, -time.Second - 1, -time.Hour} {
			h.sawOffset(at(0), d)
		}
		h.drain(nil)
		if !slices.Equal(got, []time.Duration{time.Second + 1, -time.Second - 1}) {
			t.Errorf("told of %v", got)
		}
	})
}

// TestLoggerHearsWithoutOnEvent: a Logger alone is reason enough to tell.
func TestLoggerHearsWithoutOnEvent(t *testing.T) {
	var out bytes.Buffer
	h := newHooks(t.Context(), &settings{Config: Config{Logger: slog.New(slog.NewTextHandler(&out, nil))}})
	h.tell(at(0), Event{Kind: EventRenewed})
	h.tell(at(0), Event{Kind: EventElected})
	h.sawLeader(at(0), leads("a", 1))
	h.drain(nil)
	if got := strings.Count(out.String(), "\n"); got != 2 || !h.wantsEvents() {
		t.Errorf("%d lines at the default level, want the win and the change: %s", got, &out)
	}
}

// An EventMissed that comes alone has no Time (Event.Time says "on the local
// wall clock"; a timeline sorts it to the year 1), and its log line is at INFO
// and speaks of leader "" with token 0, where a loss ought to be a warning.
func TestMissedEventHasItsTimeAndLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var got []Event
		var out bytes.Buffer
		h := newHooks(t.Context(), &settings{Config: Config{
			Logger:  slog.New(slog.NewTextHandler(&out, nil)),
			OnEvent: func(e Event) { <-gate; got = append(got, e) },
		}})
		h.tell(at(0), Event{Kind: EventRenewed})
		synctest.Wait()
		for range maxQueued + 3 {
			h.tell(at(0), Event{Kind: EventRenewed})
		}
		close(gate)
		h.drain(nil)
		last := got[len(got)-1]
		if last.Kind != EventMissed || last.Missed != 3 {
			t.Fatalf("%+v", last)
		}
		if !last.Time.Equal(noon) {
			t.Errorf("Time is %v", last.Time)
		}
		if line := out.String(); !strings.Contains(line, "level=WARN") || strings.Contains(line, "leader=") {
			t.Errorf("%s", line)
		}
	})
}
