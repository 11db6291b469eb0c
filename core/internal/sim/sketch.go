package sim

import (
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/timeline"
)

// sketch makes rows of notes.
type sketch struct {
	rows  []timeline.Row
	hosts []Host
	open  []opened
	token int64 // that was stored last
}

// opened is what lasts on a host.
type opened struct {
	lives, leads bool
	since        time.Duration
	reign        timeline.Reign
	// ends is when the term of the version that it has stored last is over.
	ends  time.Duration
	token int64 // of that version
}

func (s *sketch) add(n note) {
	who := n.who
	if who < 0 { // the operator's deeds
		who = len(s.rows) - 1
		if n.what == happened && n.text != "the faults have ended" && n.text != "the entry is corrupted" {
			s.rows[who].Marks = append(s.rows[who].Marks, timeline.Mark{At: n.at, Kind: timeline.Trouble, Text: n.text})
		}
		return
	}
	row := &s.rows[who]
	mark := func(kind timeline.MarkKind, token int64) {
		row.Marks = append(row.Marks, timeline.Mark{At: n.at, Kind: kind, Token: token})
	}
	switch n.what {
	case started:
		s.open[who].lives, s.open[who].since = true, n.at
	case elected:
		s.open[who].leads = true
		s.open[who].reign = timeline.Reign{Span: timeline.Span{From: n.at}, Token: n.a, Proof: core.Proof(n.b)}
	case ended:
		s.open[who].reign.End, s.open[who].reign.Why = timeline.End(n.b), n.text
		s.over(who, n.at, false)
	case crashed, stopped:
		if n.what == crashed {
			mark(timeline.Crashed, 0)
		}
		s.close(who, n.at, false)
	case wroteEntry:
		s.stored(n, mark)
	case lostRace:
		mark(timeline.LostRace, n.a)
	case refused:
		mark(timeline.Refused, n.a)
	}
}

// stored takes in a version: a reign begins, goes on, or is over for everybody.
func (s *sketch) stored(n note, mark func(timeline.MarkKind, int64)) {
	s.open[n.who].ends, s.open[n.who].token = n.ends, n.b
	switch {
	case n.resigns:
		s.resigned(n)
	case n.b == s.token:
		mark(timeline.Renewed, n.b)
	default:
		s.follows(n.at)
	}
	s.token = n.b
}

// resigned makes the end of a reign a resignation, whatever the leader gave up for.
func (s *sketch) resigned(n note) {
	rest := time.Duration(0)
	if n.text != "" { // held until then
		rest = n.ends
	}
	for i := range s.rows[n.who].Reigns {
		g := &s.rows[n.who].Reigns[i]
		if g.Token != n.b {
			continue
		}
		g.Rest = max(rest-g.To, 0)
		switch g.End {
		case timeline.EndNone:
			g.End = timeline.EndResigned
		case timeline.EndExpired:
			g.Why += "; after that it resigned"
		}
	}
}

// follows lets the terms end of which something is left: another reign begins.
func (s *sketch) follows(at time.Duration) {
	for _, row := range s.rows {
		for i := range row.Reigns {
			g := &row.Reigns[i]
			g.Rest = min(g.Rest, max(at-g.To, 0))
		}
	}
}

// close ends what lasts on a host; open: only the run has ended.
func (s *sketch) close(who int, at time.Duration, open bool) {
	o := &s.open[who]
	s.over(who, at, open)
	if o.lives {
		s.rows[who].Lives = append(s.rows[who].Lives, timeline.Span{From: o.since, To: at, Open: open})
	}
	o.lives = false
}

func (s *sketch) over(who int, at time.Duration, open bool) {
	o := &s.open[who]
	if o.leads {
		g := o.reign
		g.To, g.Open = at, open
		known := o.token == g.Token && !open
		switch {
		case !known:
		case g.End == timeline.EndExpired:
			g.To = s.inPause(who, g.From, o.ends, at)
		case g.End == timeline.EndNone || g.End == timeline.EndResigned:
			g.Rest = max(o.ends-at, 0)
		}
		s.rows[who].Reigns = append(s.rows[who].Reigns, g)
	}
	o.leads = false
}

// inPause is when a term ended that was found to be over when a pause was. While the
// host pauses it asks nothing, so nothing is hidden by a bar that ends before. Clocks
// that do not run at the rate of true time make this an estimate, so it is never taken
// where the host has run.
func (s *sketch) inPause(who int, from, ends, noticed time.Duration) time.Duration {
	for _, p := range s.hosts[who].Pauses {
		if p.from >= from && p.to <= noticed && noticed <= p.to+10*afterPause {
			return min(max(ends, p.from), noticed)
		}
	}
	return noticed
}
