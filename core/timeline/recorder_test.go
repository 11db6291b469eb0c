package timeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// lead lets a candidate campaign, lead for a while, and end as it is told.
func lead(t *testing.T, cfg core.Config, d time.Duration) {
	err := cfg.RunAsLeader(t.Context(), func(ctx context.Context, _ *core.Leadership) error {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", cfg.LeaderID, err)
	}
}

func (c *Chart) row(t *testing.T, name string) Row {
	t.Helper()
	for _, r := range c.Rows {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no row %q in %+v", name, c)
	return Row{}
}

func (r Row) count(kind MarkKind) (n int) {
	for _, m := range r.Marks {
		if m.Kind == kind {
			n += max(m.Count, 1)
		}
	}
	return n
}

// An election of two that share a recorder, and of one that does not.
func TestRecorderSeesAnElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen Recorder
		store := memory.NewDecider()
		config := func(name string) core.Config {
			return core.Config{LeaderID: name, Decider: store.Handle(), TermLength: 9 * time.Second, PollInterval: time.Second}
		}
		var done sync.WaitGroup
		for i, name := range []string{"ann", "stranger", "bob"} {
			cfg := config(name)
			if name != "stranger" {
				cfg.OnEvent = seen.OnEvent
			}
			done.Go(func() {
				time.Sleep(time.Duration(i) * 12 * time.Second)
				lead(t, cfg, 20*time.Second)
			})
		}
		time.Sleep(30 * time.Second) // the stranger leads since second 20
		if g := seen.Chart().row(t, "stranger").Reigns; len(g) != 1 || !g[0].Open || !g[0].Seen {
			t.Errorf("in the middle the stranger has %+v, want a reign that was seen and lasts", g)
		}
		done.Wait()
		synctest.Wait()
		c := seen.Chart()
		ann, stranger, bob := c.row(t, "ann"), c.row(t, "stranger"), c.row(t, "bob")
		if len(ann.Reigns) != 1 || len(stranger.Reigns) != 1 || len(bob.Reigns) != 1 {
			t.Fatalf("reigns %+v, %+v and %+v, want one of each", ann.Reigns, stranger.Reigns, bob.Reigns)
		}
		a, s, b := ann.Reigns[0], stranger.Reigns[0], bob.Reigns[0]
		if a.Seen || a.Open || a.Proof != core.ProofVacant || a.End != EndResigned || (a.To-a.From).Round(time.Second) != 20*time.Second {
			t.Errorf("ann's reign is %+v", a)
		}
		if !s.Seen || s.Open || s.Token != a.Token+1 || s.End != EndResigned {
			t.Errorf("the stranger's reign is %+v", s)
		}
		if b.Seen || b.Token != s.Token+1 || b.From < s.To {
			t.Errorf("bob's reign is %+v", b)
		}
		for name, row := range map[string]Row{"ann": ann, "the stranger": stranger, "bob": bob} {
			if n := row.count(Renewed); n < 2 || n > 7 {
				t.Errorf("%s has %d renewals in 20 s at 3 s", name, n)
			}
		}
		if len(stranger.Lives) != 0 || len(ann.Lives) != 1 || len(bob.Lives) != 1 {
			t.Errorf("lives %+v, %+v and %+v, want none of the stranger", ann.Lives, stranger.Lives, bob.Lives)
		}
		draw(t, c)
	})
}

// What goes wrong is told: here a leader that is cut off, whose term ends.
func TestRecorderSeesTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen Recorder
		store := memory.NewDecider()
		cfg := core.Config{LeaderID: "ann", Decider: store, TermLength: 9 * time.Second, OnEvent: seen.OnEvent}
		l, err := cfg.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		store.FailNext(100, errors.New("503"))
		<-l.Context().Done()
		synctest.Wait()
		row := seen.Chart().row(t, "ann")
		if g := row.Reigns[0]; g.End != EndExpired || g.Open {
			t.Errorf("the reign is %+v, want one whose term has ended", g)
		}
		if row.count(Failed) == 0 {
			t.Error("no request has failed")
		}
	})
}

var begin = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func seenEntry(leader string, token, number int64) entry.RaceEntry {
	return entry.RaceEntry{LeaderID: leader, FencingToken: token, ElectionNumber: entry.ElectionNumber(number), TermLength: 10 * time.Second, Nonce: "n"}
}

// A watcher sees when reigns begin and end only as exactly as it looks.
func TestRecorderForWatchers(t *testing.T) {
	at := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Second) }
	held := seenEntry("c", 3, 7)
	held.Held = true
	var r Recorder
	for _, step := range []struct {
		at int
		e  entry.RaceEntry
	}{
		{0, entry.RaceEntry{ElectionNumber: entry.NoElections}},
		{2, seenEntry("a", 1, 0)}, {4, seenEntry("a", 1, 0)}, {6, seenEntry("a", 1, 1)}, {8, seenEntry("", 1, 2)},
		{10, seenEntry("b", 2, 3)}, {12, seenEntry("b", 2, 4)}, {40, seenEntry("c", 3, 5)}, {44, held},
		{50, seenEntry("d", 4, 8)}, {51, seenEntry("e", 5, 9)},
		{52, entry.RaceEntry{ElectionNumber: entry.NoElections}}, {53, seenEntry("f", 1, 0)},
	} {
		r.Saw(at(step.at), step.e)
	}
	type want struct {
		from, to time.Duration
		open     bool
		end      End
	}
	check := func(c *Chart, reigns map[string]want) {
		t.Helper()
		for name, w := range reigns {
			row := c.row(t, name)
			if len(row.Reigns) != 1 {
				t.Errorf("%s has %d reigns", name, len(row.Reigns))
				continue
			}
			g := row.Reigns[0]
			if g.From != w.from || g.Open != w.open || !w.open && g.To != w.to || g.End != w.end || !g.Seen {
				t.Errorf("%s has %+v, want %+v", name, g, w)
			}
		}
	}
	c := r.Chart()
	check(c, map[string]want{
		"a": {2 * s, 8 * s, false, EndResigned}, "b": {10 * s, 22 * s, false, EndExpired}, "c": {40 * s, 44 * s, false, EndResigned},
		"d": {50 * s, 51 * s, false, EndNone}, "e": {51 * s, 52 * s, false, EndNone}, "f": {53 * s, 0, true, EndNone},
	})
	if n := c.row(t, "a").count(Renewed); n != 1 {
		t.Errorf("a has %d renewals, want 1", n)
	}
	if c.Until != 53*s || c.From != 0 || !c.Start.Equal(begin) {
		t.Errorf("the chart is of %v to %v from %v", c.From, c.Until, c.Start)
	}
	check(r.ChartAt(at(60)), map[string]want{"f": {53 * s, 0, true, EndNone}})
	check(r.ChartAt(at(70)), map[string]want{"f": {53 * s, 63 * s, false, EndExpired}})
}

// Candidates of one process are told at different times: news of the past change nothing.
func TestRecorderOldNews(t *testing.T) {
	var r Recorder
	tell := func(n int, kind core.EventKind, who, leader string, token int64, err error) {
		r.OnEvent(core.Event{Kind: kind, Time: begin.Add(time.Duration(n) * time.Second), LeaderID: who, Entry: seenEntry(leader, token, token), Err: err})
	}
	tell(1, core.EventLeaderChanged, "b", "a", 1, nil)
	tell(2, core.EventElected, "a", "a", 1, nil) // its own word counts
	tell(3, core.EventLeaderChanged, "b", "a", 1, nil)
	tell(4, core.EventEnded, "a", "a", 1, core.ErrLeadershipLost)
	tell(5, core.EventElected, "b", "b", 2, nil)
	tell(6, core.EventLeaderChanged, "c", "a", 1, nil)
	c := r.Chart()
	if g := c.row(t, "a").Reigns; len(g) != 1 || g[0].Seen || g[0].Open || g[0].From != s || g[0].End != EndLost {
		t.Errorf("a has %+v", g)
	}
	if g := c.row(t, "b").Reigns; len(g) != 1 || !g[0].Open {
		t.Errorf("b has %+v", g)
	}
	if g := c.row(t, "c").Reigns; len(g) != 0 {
		t.Errorf("c has %+v", g)
	}
}

// It remembers no more than it is told to, and what is drawn stays valid.
func TestRecorderIsBounded(t *testing.T) {
	for name, leader := range map[string]func(i int) (string, int64){
		"one reign for ever":      func(int) (string, int64) { return "a", 1 },
		"a new reign every time":  func(i int) (string, int64) { return "a", int64(i) },
		"a new name every time":   func(i int) (string, int64) { return fmt.Sprint(i), int64(i) },
		"two that take turns":     func(i int) (string, int64) { return fmt.Sprint(i / 100 % 2), int64(i / 100) },
		"names that campaign on":  func(i int) (string, int64) { return fmt.Sprint(i % 700), int64(i / 3) },
		"tokens that fall always": func(i int) (string, int64) { return "a", int64(-i) },
	} {
		t.Run(name, func(t *testing.T) {
			r := Recorder{Most: 500}
			for i := range 6_000 {
				id, token := leader(i)
				e := core.Event{Time: begin.Add(time.Duration(i) * time.Second), LeaderID: id, Entry: seenEntry(id, token, int64(i)), Kind: core.EventElected, Proof: core.ProofVacant}
				if i%100 != 0 {
					e.Kind = core.EventRenewed
				}
				r.OnEvent(e)
				e.Entry.LeaderID = "other"
				e.Kind = core.EventLeaderChanged
				r.OnEvent(e)
				n := len(r.rows)
				for _, row := range r.rows {
					n += len(row.lives) + len(row.reigns) + len(row.marks)
				}
				if n != r.things || n > 502 || len(r.rows) != len(r.byName) {
					t.Fatalf("after %d events: %d things, %d counted, %d rows, %d names", i, n, r.things, len(r.rows), len(r.byName))
				}
			}
			c := r.Chart()
			if err := c.WriteSVG(io.Discard); err != nil {
				t.Error(err)
			}
			if len(c.Rows) == 0 || c.empty() {
				t.Error("nothing is left of the last events")
			}
		})
	}
}

// Whatever events come in whatever order, there is a picture.
func TestRecorderTakesAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 80 {
		r := Recorder{Most: rng.IntN(200)}
		for range rng.IntN(400) {
			e := core.Event{Kind: core.EventKind(rng.IntN(14) - 1), LeaderID: fmt.Sprint(rng.IntN(5)), Proof: core.Proof(rng.IntN(9) - 1),
				Op: core.Op(rng.IntN(5)), Outcome: core.Outcome(rng.IntN(7)), Wait: time.Duration(rng.Uint64()),
				Entry: seenEntry([]string{"", "0", "1", "x"}[rng.IntN(4)], rng.Int64N(6), rng.Int64N(9)-1)}
			switch rng.IntN(20) {
			case 0: // no time
			case 1:
				e.Time = time.Unix(int64(rng.Uint64()), 0)
			default:
				e.Time = begin.Add(time.Duration(rng.IntN(1e12)))
			}
			e.Entry.TermLength = time.Duration(rng.Uint64())
			e.Err = []error{nil, core.ErrResigned, core.ErrTermExpired, core.ErrLeadershipLost, errors.New("x")}[rng.IntN(5)]
			e.Entry.Held = rng.IntN(5) == 0
			if r.OnEvent(e); rng.IntN(3) == 0 {
				r.Saw(e.Time, e.Entry)
			}
		}
		for _, c := range []*Chart{r.Chart(), r.ChartAt(begin), r.ChartAt(begin.AddDate(0, 0, rng.IntN(100_000)))} {
			if err := c.WriteSVG(io.Discard); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRecorderFromAnyGoroutine(t *testing.T) {
	var r Recorder
	var done sync.WaitGroup
	for n := range 4 {
		done.Go(func() {
			for i := range 200 {
				r.OnEvent(core.Event{Kind: core.EventElected, Time: begin.Add(time.Duration(i) * time.Second), LeaderID: fmt.Sprint(n), Entry: seenEntry(fmt.Sprint(n), int64(i), 0)})
				if i%50 == 0 {
					var b bytes.Buffer
					if err := r.Chart().WriteSVG(&b); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	done.Wait()
	if n := len(r.Chart().Rows); n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
}

func TestRecorderOfNothing(t *testing.T) {
	var r Recorder
	for _, c := range []*Chart{r.Chart(), r.ChartAt(begin)} {
		if got := titles(draw(t, c)); len(got) != 1 || !c.empty() {
			t.Errorf("a recorder that saw nothing draws %q", got)
		}
	}
}
