package chaos

import (
	"strings"
	"testing"
	"time"
)

const term = 2 * time.Second

// ms is a moment of a doctored history.
func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// reignOf is what an orderly reign looks like.
func reignOf(token int64, from, to int) []Event {
	events := []Event{{At: ms(from), Kind: Began, Token: token}}
	for at := from; at < to; at += 100 {
		events = append(events, Event{At: ms(at), Kind: Accepted, Token: token})
	}
	return append(events, Event{At: ms(to), Kind: Gone, Token: token})
}

func together(parts ...[]Event) (all []Event) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func one(e ...Event) []Event { return e }

// Histories as a fault in elect, in core or in the resource would write them: the umpire
// must say what is wrong, and nothing else, and nothing about histories that are as they may be.
func TestUmpire(t *testing.T) {
	crash := Event{At: ms(1000), Kind: Did, Token: 1, Act: KillElect, Ending: Crash}
	for _, c := range []struct {
		name, why string
		events    []Event
		want      []Rule
	}{
		{"in order", "one after the other", together(reignOf(1, 0, 1000), reignOf(2, 1200, 2000)), nil},
		{"overlap", "the guard did not kill in time", together(
			one(Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(10), Kind: Accepted, Token: 1}),
			one(Event{At: ms(2100), Kind: Began, Token: 2}, Event{At: ms(2110), Kind: Accepted, Token: 2}),
			one(Event{At: ms(2120), Kind: Gone, Token: 1})), []Rule{RuleOverlap}},
		{"overlap in silence", "a COMMAND that writes nothing is there all the same", one(
			Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(9000), Kind: Began, Token: 2}), []Rule{RuleOverlap}},
		{"same token twice", "two leaders by one entry", together(reignOf(1, 0, 1000), reignOf(1, 1200, 2000)), []Rule{RuleTokens}},
		{"token falls", "numbers started again", together(reignOf(7, 0, 1000), one(Event{At: ms(1100), Kind: Began, Token: 3})), []Rule{RuleTokens}},
		{"stale accepted", "the fence has a hole", one(
			Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(1), Kind: Frozen, Token: 1},
			Event{At: ms(3000), Kind: Began, Token: 2}, Event{At: ms(3010), Kind: Accepted, Token: 2},
			Event{At: ms(3100), Kind: Thawed, Token: 1}, Event{At: ms(3110), Kind: Accepted, Token: 1},
			Event{At: ms(3120), Kind: Gone, Token: 1}), []Rule{RuleStale}},
		{"late and refused", "what was begun before a freeze and arrives after it is what the fence is for", one(
			Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(10), Kind: Frozen, Token: 1},
			Event{At: ms(3000), Kind: Began, Token: 2}, Event{At: ms(3010), Kind: Accepted, Token: 2},
			Event{At: ms(3100), Kind: Refused, Token: 1}, Event{At: ms(3110), Kind: Thawed, Token: 1},
			Event{At: ms(3120), Kind: Gone, Token: 1}), nil},
		{"goes on after a freeze", "the guard does not kill what it finds too late", one(
			Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(10), Kind: Frozen, Token: 1},
			Event{At: ms(3000), Kind: Began, Token: 2}, Event{At: ms(3010), Kind: Accepted, Token: 2},
			Event{At: ms(3100), Kind: Thawed, Token: 1}, Event{At: ms(4200), Kind: Accepted, Token: 2}), []Rule{RuleThawed}},
		{"thawed long before", "a freeze excuses nothing that comes long after it", one(
			Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(10), Kind: Frozen, Token: 1}, Event{At: ms(500), Kind: Thawed, Token: 1},
			Event{At: ms(3000), Kind: Began, Token: 2}), []Rule{RuleOverlap}},
		{"refused without need", "the resource has lost its mind", one(
			Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(10), Kind: Refused, Token: 1}), []Rule{RuleFence}},
		{"nobody leads", "an election that is stuck", together(reignOf(1, 0, 1000),
			one(crash, Event{At: ms(1000), Kind: Calm, Token: 2}, Event{At: ms(6001), Kind: Hired})), []Rule{RuleLeader}},
		{"the victim leads on", "it is dead, and whoever follows it is asked for", one(
			Event{At: ms(0), Kind: Began, Token: 1}, crash, Event{At: ms(1001), Kind: Calm, Token: 2},
			Event{At: ms(1500), Kind: Accepted, Token: 1}, Event{At: ms(1800), Kind: Gone, Token: 1}, Event{At: ms(6100), Kind: Hired}), []Rule{RuleLeader}},
		{"somebody leads too late", "and nothing else was heard meanwhile", together(reignOf(1, 0, 1000),
			one(crash, Event{At: ms(1000), Kind: Calm, Token: 2}), reignOf(2, 6001, 6500)), []Rule{RuleLeader}},
		{"somebody leads", "just in time", together(reignOf(1, 0, 1000),
			one(crash, Event{At: ms(1000), Kind: Calm, Token: 2}), reignOf(2, 5900, 6500)), nil},
		{"the store's clock jumps forward", "outside of what an election can bear, if nothing stale is accepted", one(
			Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(10), Kind: Jumped},
			Event{At: ms(300), Kind: Began, Token: 2}, Event{At: ms(310), Kind: Accepted, Token: 2},
			Event{At: ms(320), Kind: Refused, Token: 1}, Event{At: ms(600), Kind: Gone, Token: 1}), nil},
		{"an unheard-of record", "the harness has lost sight", one(Event{At: ms(0), Kind: Accepted, Token: 1}), []Rule{RuleHarness}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := NewUmpire(42, 1, term)
			for _, e := range c.events {
				u.See(e)
			}
			var got []Rule
			for _, v := range u.Violations() {
				got = append(got, v.Rule)
				if text := v.String(); !strings.Contains(text, "election 0") || !strings.Contains(text, "-seed 42") || len(v.History) == 0 {
					t.Errorf("not enough to go by: %s", text)
				}
			}
			if strings.Join(texts(got), ", ") != strings.Join(texts(c.want), ", ") {
				t.Errorf("violated: %q, want %q: %s", got, c.want, c.why)
			}
		})
	}
}

func texts(rules []Rule) (all []string) {
	for _, r := range rules {
		all = append(all, string(r))
	}
	return all
}

// What the harness was itself too late for proves nothing, and is counted; what has
// nothing to do with time is judged all the same.
func TestStarvedHarness(t *testing.T) {
	late := func(_, _ time.Duration) time.Duration { return term }
	see := func(events []Event) *Umpire {
		u := NewUmpire(1, 1, term)
		u.Lag = late
		for _, e := range events {
			u.See(e)
		}
		return u
	}
	u := see(one(Event{At: ms(0), Kind: Began, Token: 1}, Event{At: ms(2100), Kind: Began, Token: 2}))
	if len(u.Violations()) != 0 || u.voids != 1 {
		t.Errorf("overlap: %v, %d void", u.Violations(), u.voids)
	}
	u = see(one(Event{At: ms(0), Kind: Calm, Token: 1}, Event{At: ms(6900), Kind: Hired}))
	if len(u.Violations()) != 0 || !u.Waiting(0) {
		t.Error("the harness's own delays were not allowed for")
	}
	u.See(Event{At: ms(7100), Kind: Hired})
	if len(u.Violations()) != 0 || u.voids != 1 {
		t.Errorf("no leader: %v, %d void", u.Violations(), u.voids)
	}
	u = see(together(reignOf(2, 0, 100), reignOf(1, 200, 300)))
	if len(u.Violations()) == 0 {
		t.Error("a starved harness sees the order of tokens as well as any")
	}
	r := Result{Judged: 100, Void: voidsAllowed + 1}
	if r.demand(Goals{}); len(r.Violations) != 1 || r.Violations[0].Rule != RuleVoid {
		t.Errorf("a run that proves nothing: %v", r.Violations)
	}
}

func TestLag(t *testing.T) {
	m := new(lagMeter)
	for _, at := range []int{10, 23, 33, 43, 553, 563, 673} { // the usual; 500 ms late; 100 ms late
		m.ran(ms(at))
	}
	for _, c := range []struct{ from, to, want int }{
		{0, 50, 0}, {0, 553, 500}, {453, 570, 100}, {553, 563, 0}, {0, 673, 600},
		{0, 690, 600},     // it may be about to run
		{0, 1683, 1600},   // it has not run for a second: so late is everybody
		{1183, 1683, 500}, // not all of it in that time
	} {
		if got := m.between(ms(c.from), ms(c.to)); got != ms(c.want) {
			t.Errorf("late by %v from %d to %d, want %d ms", got, c.from, c.to, c.want)
		}
	}
	m.ran(ms(683))
	for at := 693; at < 70_000; at += 10 {
		m.ran(ms(at))
	}
	m.ran(ms(70_100))
	if m.between(0, ms(9000)) != 0 || m.most() != ms(500) {
		t.Error("it keeps everything for ever")
	}
}

func TestHistoryIsShort(t *testing.T) {
	u := NewUmpire(1, 1, term)
	for token := range int64(100) {
		for _, e := range reignOf(token+1, int(token)*1000, int(token)*1000+500) {
			u.See(e)
		}
	}
	lines := u.bouts[0].history.last()
	if len(lines) != historyLines || !strings.Contains(lines[len(lines)-1], "token 100  after 5 records") {
		t.Errorf("%d lines, the last: %s", len(lines), lines[len(lines)-1])
	}
}

func TestEndingsAreCountedByWhatWasDone(t *testing.T) {
	u := NewUmpire(1, 2, term)
	for _, e := range together(
		one(Event{Kind: Began, Token: 1}, Event{At: ms(1), Kind: Accepted, Token: 1}, Event{At: ms(2), Kind: Did, Token: 1, Act: StopAll, Ending: Freeze},
			Event{At: ms(3), Kind: Calm, Token: 2}, Event{At: ms(4), Kind: Gone, Token: 1}),
		reignOf(2, 2000, 3000), // nothing was done to it
		reignOf(3, 3100, 3100), // it never wrote
	) {
		u.See(e)
	}
	for _, e := range reignOf(1, 4000, 5000) {
		e.Election = 1
		u.See(e)
	}
	u.rest()
	r := u.result([]string{"gcs", "s3"})
	if r.Reigns != 3 || r.Silent != 1 || r.Endings[Freeze] != 1 || r.Endings[Unexplained] != 2 || r.Faults[StopAll] != 1 ||
		r.Failovers[Freeze].Median != 1997 || r.ByStore["gcs"].Reigns != 2 {
		t.Errorf("%+v", r)
	}
	if r.demand(Goals{Reigns: 4, EachEnds: 1, EachAct: true}); len(r.Violations) != 1+3+len(cards())-1+1 {
		t.Errorf("%d goals were missed: %v", len(r.Violations), r.Violations)
	}
}
