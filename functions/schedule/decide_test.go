package schedule

import (
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	t0 := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	old, same, later := At(t0.Add(-time.Nanosecond)), At(t0.In(time.FixedZone("", 3600))), At(t0.Add(time.Nanosecond))
	for _, c := range []struct {
		what          string
		last          mark
		slot          Slot
		retry, skipit Outcome // what the two policies make of it
	}{
		{"nothing was ever done", mark{}, same, Unknown, Unknown},
		{"a later slot", mark{}.with(same, stateDone, ""), later, Unknown, Unknown},
		{"an older slot", mark{}.with(same, stateDone, ""), old, Stale, Stale},
		{"older than one that failed", mark{}.with(same, stateFailed, ""), old, Stale, Stale},
		{"done", mark{}.with(same, stateDone, ""), same, Done, Done},
		{"begun", mark{}.with(same, stateBegun, ""), same, Unknown, Begun},
		{"failed", mark{}.with(same, stateFailed, ""), same, Unknown, Begun},
		{"a new name", mark{}.with(Named("a"), stateDone, ""), Named("b"), Unknown, Unknown},
		{"the same name", mark{}.with(Named("a"), stateDone, ""), Named("a"), Done, Done},
		{"the same name, begun", mark{}.with(Named("a"), stateBegun, ""), Named("a"), Unknown, Begun},
		{"a time after a name", mark{}.with(Named("a"), stateDone, ""), same, Unknown, Unknown},
		{"a name after a time", mark{}.with(same, stateDone, ""), Named("a"), Unknown, Unknown},
	} {
		if got := decide(c.last, c.slot, Retry); got != c.retry {
			t.Errorf("%s: Retry says %v, want %v", c.what, got, c.retry)
		}
		if got := decide(c.last, c.slot, Skip); got != c.skipit {
			t.Errorf("%s: Skip says %v, want %v", c.what, got, c.skipit)
		}
	}
}

func TestMarkSurvivesTheStore(t *testing.T) {
	for _, m := range []mark{
		{Version: 1},
		mark{Version: 1, User: []byte("x")}.with(At(time.Now()), stateBegun, newRunID()),
		mark{}.with(Named("executions/\"é\""), stateDone, ""),
	} {
		b, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := readMark(b)
		if err != nil || got.slot() != m.slot() || got.State != m.State || got.Run != m.Run || string(got.User) != string(m.User) {
			t.Errorf("%s: %+v, %v; want %+v", b, got, err, m)
		}
	}
}

func TestOutcomes(t *testing.T) {
	settled := map[Outcome]bool{Ran: true, Done: true, Begun: true, Stale: true}
	for o := Unknown; o <= Stale; o++ {
		if o.Settled() != settled[o] || o.String() == "" || (Result{Outcome: o}).String() == "" {
			t.Errorf("%d: %v, settled %v", int(o), o, o.Settled())
		}
	}
	if got := Outcome(99).String(); got != "Outcome(99)" {
		t.Error(got)
	}
}
