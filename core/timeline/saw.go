package timeline

import (
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// saw takes in an entry that somebody has read. r.mu is held.
func (r *Recorder) saw(at time.Duration, e entry.RaceEntry) {
	leads := !e.Vacant() && !e.Held
	if r.led != nil {
		if g := r.led.reign(r.ledBy); g != nil && g.Open && g.Seen && !(leads && r.led.name == e.LeaderID && g.Token == e.FencingToken) {
			g.seenOver(at, e)
		}
	}
	if !leads {
		return
	}
	row := r.row(e.LeaderID)
	r.led, r.ledBy = row, e.FencingToken
	g := row.reign(e.FencingToken)
	switch {
	case g == nil:
		row.reigns = append(row.reigns, recordedReign{Reign: Reign{Span: Span{From: at, Open: true}, Token: e.FencingToken, Seen: true},
			term: e.TermLength, renewed: at, number: e.ElectionNumber})
		r.things++
	case g.Seen && g.Open && g.number != e.ElectionNumber:
		g.number, g.term, g.renewed = e.ElectionNumber, e.TermLength, at
		row.marks = append(row.marks, Mark{At: at, Kind: Renewed, Token: g.Token})
		r.things++
	}
}

// seenOver ends a reign of which the entry shows that it is over: then at the
// latest, and no later than its term.
func (g *recordedReign) seenOver(at time.Duration, e entry.RaceEntry) {
	if g.ranOut(at) {
		return
	}
	switch {
	case e.Absent():
		g.close(at, EndNone, "the entry is gone")
	case e.FencingToken == g.Token && e.Vacant():
		g.close(at, EndResigned, "")
	case e.FencingToken == g.Token && e.Held:
		g.close(at, EndResigned, "the election stays closed until the term is over")
		g.Rest = bounded(e.TermLength)
	default:
		g.close(at, EndNone, "another reign follows")
	}
}

// ranOut ends a reign that was seen, and not renewed for a term.
func (g *recordedReign) ranOut(at time.Duration) bool {
	over := at > g.renewed && at-g.renewed > g.term
	if over && g.Open && g.Seen {
		g.close(g.renewed+g.term, EndExpired, "nobody saw it renewed")
	}
	return over
}

// Chart is the picture so far. Times are those of the events, on the clock and in
// the time zone that they had. What it returns is the caller's.
func (r *Recorder) Chart() *Chart {
	if r == nil {
		return &Chart{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.chart(r.latest)
}

// ChartAt is Chart as it is at this time, which may be later than the last event:
// what has not ended goes on until then, and terms run out.
func (r *Recorder) ChartAt(now time.Time) *Chart {
	if r == nil {
		return &Chart{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begin.IsZero() {
		return r.chart(0)
	}
	return r.chart(max(r.latest, now.Round(0).Sub(r.begin)))
}

func (r *Recorder) chart(now time.Duration) *Chart {
	c := &Chart{Title: r.Title, Start: r.begin}
	first := time.Duration(0)
	for _, row := range r.rows {
		shown := Row{Name: row.name, Lives: append([]Span(nil), row.lives...), Marks: append([]Mark(nil), row.marks...)}
		for _, g := range row.reigns {
			g.ranOut(now)
			if n := len(row.lives); n > 0 {
				g.silent(row.lives[n-1].To, now)
			}
			shown.Reigns = append(shown.Reigns, g.Reign)
			if n := len(shown.Lives); n > 0 && g.Open && !g.Seen {
				shown.Lives[n-1].Open = true
			}
		}
		for s := range shown.everything() {
			first = min(first, s.From)
		}
		c.Rows = append(c.Rows, shown)
	}
	cut(c.Rows)
	if r.forgot {
		first = max(first, r.from)
	}
	if now > first {
		c.From, c.Until = first, now
	}
	if r.forgot {
		c.Subtitle = scale{start: c.Start, from: seconds(c.From), until: seconds(c.Until)}.caption() + " What was before is forgotten."
	}
	return c
}
