package timeline

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// A reign may end before its term does. Whoever knows nothing of that waits for the
// end of the term, and so the picture has it.

// termEnds is when a term is over that was confirmed just now: as the entry has it, by
// the clock that events have, if that can be.
func (r *Recorder) termEnds(at time.Duration, e entry.RaceEntry) time.Duration {
	latest := at + bounded(e.TermLength)
	if latest < at {
		return at
	}
	if end := e.TermExpiry.Round(0).Sub(r.begin); !e.TermExpiry.IsZero() && end > at {
		return min(end, latest)
	}
	return latest
}

func bounded(term time.Duration) time.Duration { return min(max(term, 0), entry.MaxTermLength) }

// length is how long it is from one instant to another; 0 where that comes first.
func length(from, to time.Duration) time.Duration {
	switch {
	case to <= from:
		return 0
	case to-from < 0: // more than there is
		return math.MaxInt64
	}
	return to - from
}

// resigned: the store has confirmed that nobody need wait for this reign any more, or
// no longer than what is stored says.
func (row *recorded) resigned(at time.Duration, e entry.RaceEntry) {
	g := row.reign(e.FencingToken)
	if g == nil || g.Seen {
		return
	}
	if g.Open { // the end was missed
		g.close(at, EndResigned, "")
	}
	g.Rest = 0
	if e.Held {
		g.Rest = min(length(g.To, at), entry.MaxTermLength) + bounded(e.TermLength)
	}
	switch g.End {
	case EndNone:
		g.End = EndResigned
	case EndExpired:
		g.Why += "; after that it resigned"
	}
}

// silent ends a reign of which nothing was heard since its term was over: its process
// has crashed, or stands still. heard is when it was heard of last.
func (g *recordedReign) silent(heard, now time.Duration) {
	if !g.Open || g.Seen || now <= g.ends {
		return
	}
	heard = min(max(heard, g.renewed, g.From), g.ends)
	g.close(heard, EndNone, "nothing was heard of it after that")
	g.Rest = length(g.To, g.ends)
}

// cut lets what is left of a term end where the next reign begins, by whatever proof.
func cut(rows []Row) {
	type begin struct {
		token int64
		at    time.Duration // of this reign or of a later one, whichever is first
	}
	var begins []begin
	for _, row := range rows {
		for _, g := range row.Reigns {
			begins = append(begins, begin{g.Token, g.From})
		}
	}
	slices.SortFunc(begins, func(a, b begin) int { return cmp.Compare(a.token, b.token) })
	for i := len(begins) - 2; i >= 0; i-- {
		begins[i].at = min(begins[i].at, begins[i+1].at)
	}
	for _, row := range rows {
		for i := range row.Reigns {
			g := &row.Reigns[i]
			next := sort.Search(len(begins), func(i int) bool { return begins[i].token > g.Token })
			if g.Rest > 0 && next < len(begins) {
				g.Rest = min(g.Rest, length(g.To, begins[next].at))
			}
		}
	}
}
