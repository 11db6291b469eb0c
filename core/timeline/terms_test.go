package timeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// told lets a recorder hear events of one second each.
func told(r *Recorder, n float64, kind core.EventKind, who string, token int64, err error, change ...func(*entry.RaceEntry)) {
	at := begin.Add(time.Duration(n * 1e9))
	e := seenEntry(who, token, int64(n))
	e.TermExpiry = at.Add(e.TermLength - s/4) // it was sent before it was confirmed
	for _, c := range change {
		c(&e)
	}
	r.OnEvent(core.Event{Kind: kind, Time: at, LeaderID: who, Entry: e, Err: err})
}

// A reign ends, and its term may go on: until then others wait.
func TestRecorderDrawsTermsToTheirEnds(t *testing.T) {
	vacant := func(e *entry.RaceEntry) { e.LeaderID = "" }
	held := func(e *entry.RaceEntry) { e.Held, e.TermLength = true, 2*s }
	stepped := func(e *entry.RaceEntry) { e.TermExpiry = begin.AddDate(1, 0, 0) }
	unknown := func(e *entry.RaceEntry) { e.TermExpiry = time.Time{} }
	for name, c := range map[string]struct {
		hear func(r *Recorder)
		end  End
		open bool
		to   time.Duration
		rest time.Duration
		why  string
	}{
		"the context ends, and it resigns": {func(r *Recorder) {
			told(r, 5, core.EventEnded, "a", 1, context.Canceled)
			told(r, 6, core.EventResigned, "a", 1, nil, vacant)
		}, EndResigned, false, 5 * s, 0, "context canceled"},
		"the context ends, and nothing more is heard": {func(r *Recorder) {
			told(r, 5, core.EventEnded, "a", 1, context.Canceled)
		}, EndNone, false, 5 * s, 7*s + 3*s/4, "context canceled"},
		"the resignation is not confirmed": {func(r *Recorder) {
			told(r, 5, core.EventEnded, "a", 1, core.ErrResigned)
			told(r, 6, core.EventNotResigned, "a", 1, errors.New("503"))
		}, EndResigned, false, 5 * s, 7*s + 3*s/4, ""},
		"it resigns and keeps the election shut": {func(r *Recorder) {
			told(r, 5, core.EventEnded, "a", 1, core.ErrResigned)
			told(r, 6, core.EventResigned, "a", 1, nil, held)
		}, EndResigned, false, 5 * s, 3 * s, ""},
		"it notices late": {func(r *Recorder) {
			told(r, 20, core.EventEnded, "a", 1, core.ErrTermExpired)
		}, EndExpired, false, 12*s + 3*s/4, 0, "noticed that 7.3s later"},
		"it notices late, and resigns then": {func(r *Recorder) {
			told(r, 20, core.EventEnded, "a", 1, core.ErrTermExpired)
			told(r, 21, core.EventResigned, "a", 1, nil, vacant)
		}, EndExpired, false, 12*s + 3*s/4, 0, "after that it resigned"},
		"another one has written": {func(r *Recorder) {
			told(r, 5, core.EventEnded, "a", 1, core.ErrLeadershipLost)
		}, EndLost, false, 5 * s, 0, ""},
		"it dies, and its term is over": {func(r *Recorder) {
			told(r, 30, core.EventMissed, "b", 0, nil)
		}, EndNone, false, 3 * s, 9*s + 3*s/4, "nothing was heard of it after that"},
		"it dies, and another one follows sooner": {func(r *Recorder) {
			told(r, 11, core.EventElected, "b", 2, nil)
			told(r, 30, core.EventMissed, "b", 0, nil)
		}, EndNone, false, 3 * s, 8 * s, ""},
		"nothing is heard for a while": {func(r *Recorder) {
			told(r, 12, core.EventMissed, "b", 0, nil)
		}, EndNone, true, 0, 0, ""},
		"its wall clock was set": {func(r *Recorder) {
			told(r, 4, core.EventRenewed, "a", 1, nil, stepped)
			told(r, 5, core.EventEnded, "a", 1, context.Canceled)
		}, EndNone, false, 5 * s, 9 * s, ""},
		"the end of its term is not known": {func(r *Recorder) {
			told(r, 4, core.EventRenewed, "a", 1, nil, unknown)
			told(r, 5, core.EventEnded, "a", 1, context.Canceled)
		}, EndNone, false, 5 * s, 9 * s, ""},
		"only its resignation was heard": {func(r *Recorder) {
			told(r, 5, core.EventResigned, "a", 1, nil, vacant)
		}, EndResigned, false, 5 * s, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var r Recorder
			told(&r, 0, core.EventElected, "a", 1, nil)
			told(&r, 3, core.EventRenewed, "a", 1, nil)
			c.hear(&r)
			chart := r.Chart()
			g := chart.row(t, "a").Reigns[0]
			if g.End != c.end || g.Open != c.open || !g.Open && g.To != c.to || g.Rest != c.rest || !strings.Contains(g.Why, c.why) {
				t.Errorf("drawn as %+v, want it to end by %v at %v with a rest of %v, %q", g, c.end, c.to, c.rest, c.why)
			}
			draw(t, chart)
		})
	}
}

// The same with the engine: who is sent away by the end of its context resigns, and so
// the next one need not wait.
func TestRecorderSeesWhyTheNextNeedNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen Recorder
		store := memory.NewDecider()
		for _, name := range []string{"a", "b"} {
			cfg := core.Config{LeaderID: name, Decider: store.Handle(), TermLength: 9 * s, OnEvent: seen.OnEvent}
			ctx, cancel := context.WithCancel(t.Context())
			cfg.OnElected = func(ctx context.Context, _ *core.TimeView) { <-ctx.Done() }
			cfg.OnOusting = func(context.Context) {}
			time.AfterFunc(20*s, cancel)
			if err := cfg.Acquire(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		synctest.Wait()
		c := seen.Chart()
		a, b := c.row(t, "a").Reigns[0], c.row(t, "b").Reigns[0]
		if a.End != EndResigned || a.Rest != 0 || b.Proof != core.ProofVacant {
			t.Errorf("the reigns are %+v and %+v, want a resignation and then a win by vacant", a, b)
		}
	})
}

// What is left of a term is drawn from the end of the reign to the end of the term, in
// any part of the picture, and can be pointed at.
func TestRestOfATermIsDrawn(t *testing.T) {
	c := &Chart{Until: 20 * s, Rows: []Row{
		{Name: "a", Reigns: []Reign{{Span: from(1*s, 5*s), Token: 1, Rest: 4 * s}}, Marks: []Mark{{At: 5 * s, Kind: Crashed}}},
		{Name: "b", Reigns: []Reign{{Span: from(10*s, 12*s), Token: 2, Rest: 1 << 62}, {Span: from(15*s, 16*s), Token: 3}}}}}
	rests := func(c *Chart) (all []*node) {
		for _, n := range draw(t, c).all("rect") {
			if n.attr("class") == "rest" && len(n.all("title")) > 0 {
				all = append(all, n)
			}
		}
		return all
	}
	l := c.layout()
	all := rests(c)
	if len(all) != 2 {
		t.Fatalf("%d rests are drawn, want 2", len(all))
	}
	for i, want := range [][2]time.Duration{{5 * s, 9 * s}, {12 * s, 15 * s}} { // the second is cut short
		x, w := all[i].number(t, "x"), all[i].number(t, "width")
		if x-l.x(want[0]) > 0.1 || x+w-l.x(want[1]) > 0.2 || l.x(want[1])-x-w > 0.2 {
			t.Errorf("rest %d is drawn from %v to %v, want %v to %v", i, x, x+w, l.x(want[0]), l.x(want[1]))
		}
	}
	if got, want := all[0].all("title")[0].Text, "5.000 s to 9.000 s\na leads no more, and its term runs on: others wait for its end\nfencing token 1"; got != want {
		t.Errorf("pointing at it shows %q, want %q", got, want)
	}
	c.From, c.Until = 6*s, 8*s // its reign is not in this part
	if n := len(rests(c)); n != 1 {
		t.Errorf("in a part of the picture %d rests are drawn, want 1", n)
	}
	c.From, c.Until = 0, 0
	if l := c.layout(); l.until < 16 {
		t.Errorf("everything ends at %v", l.until)
	}
	if n := len(rests(&Chart{Rows: []Row{{Reigns: []Reign{{Span: from(0, s), Rest: s}}}}})); n != 1 {
		t.Errorf("of a chart that ends with it, %d are drawn", n)
	}
}
