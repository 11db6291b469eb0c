package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/timeline"
)

// What became of a term is drawn: that it was given up, whatever ended the reign, that
// it goes on after a crash, and that it ended while its leader paused.
func TestEndsOfTermsAreDrawn(t *testing.T) {
	const s = time.Second
	won := []note{
		{at: 0, what: started},
		{at: 1 * s, what: wroteEntry, a: 1, b: 7, text: "h", ends: 10 * s},
		{at: 1 * s, what: elected, a: 7, b: int64(core.ProofVacant)},
		{at: 4 * s, what: wroteEntry, a: 2, b: 7, text: "h", ends: 13 * s},
	}
	canceled := note{at: 6 * s, what: ended, a: 7, b: int64(timeline.EndNone), text: "context canceled"}
	expired := note{at: 16 * s, what: ended, a: 7, b: int64(timeline.EndExpired), text: "over"}
	next := note{at: 11 * s, who: 1, what: wroteEntry, a: 3, b: 8, text: "i", ends: 20 * s}
	for name, c := range map[string]struct {
		then []note
		end  timeline.End
		to   time.Duration
		rest time.Duration
		why  string
	}{
		"its context ends, and it resigns":         {[]note{canceled, {at: 7 * s, what: wroteEntry, a: 3, b: 7, ends: 16 * s, resigns: true}}, timeline.EndResigned, 6 * s, 0, "context canceled"},
		"its context ends, and it says nothing":    {[]note{canceled}, timeline.EndNone, 6 * s, 7 * s, ""},
		"it crashes":                               {[]note{{at: 6 * s, what: crashed}}, timeline.EndNone, 6 * s, 7 * s, ""},
		"it crashes, and another one can tell":     {[]note{{at: 6 * s, what: crashed}, next}, timeline.EndNone, 6 * s, 5 * s, ""},
		"it resigns, and keeps the election shut":  {[]note{canceled, {at: 7 * s, what: wroteEntry, a: 3, b: 7, text: "h", ends: 9 * s, resigns: true}}, timeline.EndResigned, 6 * s, 3 * s, ""},
		"it pauses, and notices when it goes on":   {[]note{expired}, timeline.EndExpired, 13 * s, 0, ""},
		"it notices that without a pause":          {[]note{{at: 14 * s, what: ended, a: 7, b: int64(timeline.EndExpired), text: "over"}}, timeline.EndExpired, 14 * s, 0, ""},
		"its term ends, and it resigns after that": {[]note{expired, {at: 17 * s, what: wroteEntry, a: 3, b: 7, ends: 26 * s, resigns: true}}, timeline.EndExpired, 13 * s, 0, "after that it resigned"},
	} {
		t.Run(name, func(t *testing.T) {
			hosts := []Host{{Name: "h", Pauses: []span{{12 * s, 16 * s}}}, {Name: "i"}}
			k := sketch{rows: make([]timeline.Row, 3), hosts: hosts, open: make([]opened, 2)}
			for _, n := range append(won[:len(won):len(won)], c.then...) {
				k.add(n)
			}
			if n := len(k.rows[0].Reigns); n != 1 {
				t.Fatalf("%d reigns, want one", n)
			}
			g := k.rows[0].Reigns[0]
			if g.Open || g.End != c.end || g.To != c.to || g.Rest != c.rest || !strings.Contains(g.Why, c.why) {
				t.Errorf("drawn as %+v, want %+v", g, c)
			}
			if n := len(k.rows[0].Marks); n == 0 || k.rows[0].Marks[0].Kind != timeline.Renewed {
				t.Errorf("marks %+v, want one renewal first", k.rows[0].Marks)
			}
		})
	}
}

// Whoever wins because nobody leads has a predecessor whose reign was given up: the
// picture shows why.
func TestVacancyIsExplained(t *testing.T) {
	explained := 0
	for _, p := range Profiles() {
		for seed := range uint64(4) {
			plan := NewPlan(p, seed+1)
			reigns := map[int64]timeline.Reign{}
			for _, row := range play(t, plan).Chart(plan).Rows {
				for _, g := range row.Reigns {
					reigns[g.Token] = g
				}
			}
			for token, g := range reigns {
				before, drawn := reigns[token-1]
				if g.Proof != core.ProofVacant || !drawn {
					continue
				}
				if explained++; before.End != timeline.EndResigned && !strings.Contains(before.Why, "resigned") {
					t.Errorf("profile %s, seed %d: the reign %d is won by vacant, and that before is %+v", p.Name, seed+1, token, before)
				}
			}
		}
	}
	if explained == 0 {
		t.Error("there was no such win: this test tests nothing")
	}
}
