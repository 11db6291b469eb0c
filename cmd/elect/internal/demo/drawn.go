package demo

import (
	"fmt"
	"time"

	marks "github.com/cloudelect/cloudelect/cmd/elect/internal/timeline"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/timeline"
)

// drawn is the history as the picture that --timeline writes: what the terminal
// shows, and besides renewals, lost races, proofs, and how reigns ended.
func (b *board) drawn(h *history, now int64, about string) *timeline.Chart {
	at := func(t int64) time.Duration { return since(b.start, t) }
	c := &timeline.Chart{Title: "elect demo", Subtitle: about,
		Until: max(at(now), 1), Rows: make([]timeline.Row, b.rows+1)}
	for i := range b.rows {
		c.Rows[i].Name = fmt.Sprintf("worker-%d", i+1)
	}
	mark := func(row int, kind timeline.MarkKind, t, token int64, text string) {
		c.Rows[row].Marks = append(c.Rows[row].Marks, timeline.Mark{At: at(t), Kind: kind, Token: token, Text: text})
	}
	log := b.rows
	c.Rows[log].Name = "the log"
	for _, s := range b.shifts {
		life := timeline.Span{From: at(s.from), To: at(s.to), Open: s.to == 0}
		c.Rows[s.worker.row].Lives = append(c.Rows[s.worker.row].Lives, life)
	}
	for _, r := range h.reigns {
		if r.passes > 0 {
			c.Rows[r.worker.row].Reigns = append(c.Rows[r.worker.row].Reigns, b.bar(r, now))
		}
	}
	for _, t := range h.wrote {
		mark(log, timeline.Wrote, t, 0, "a line of the leader")
	}
	for _, r := range h.heard {
		if r.Kind == kindRenewed {
			mark(r.from.row, timeline.Renewed, r.At, r.Token, "")
		} else {
			mark(r.from.row, timeline.LostRace, r.At, 0, "")
		}
	}
	for i, m := range b.marks {
		switch m.sign {
		case marks.Killed:
			mark(m.row, timeline.Crashed, m.at, 0, "kill -9")
		case marks.Terminated:
			mark(m.row, timeline.Told, m.at, 0, "kill -TERM")
		case marks.Refused:
			mark(m.row, timeline.Refused, m.at, 0, "a late line is refused")
		case marks.Stopped:
			to, open := b.continued(i, now)
			c.Rows[m.row].Faults = append(c.Rows[m.row].Faults, timeline.Fault{Span: timeline.Span{From: at(m.at), To: at(to), Open: open},
				What: "frozen (kill -STOP)", Detail: "until kill -CONT"})
		}
	}
	for i, x := range h.reigns {
		for _, y := range h.reigns[:i] {
			if overlap(x, y) {
				c.Violations = append(c.Violations, timeline.Violation{At: at(max(x.first.before, y.first.before)),
					Text: fmt.Sprintf("two reigns pass their checks at the same time, fencing tokens %d and %d", x.token, y.token)})
			}
		}
	}
	return c
}

// continued is when a worker goes on that was stopped by mark i; open: it has not.
func (b *board) continued(i int, now int64) (at int64, open bool) {
	for _, later := range b.marks[i:] {
		if later.row == b.marks[i].row && later.sign == marks.Continued {
			return later.at, false
		}
	}
	return now, true
}

// bar is a reign from its first check that passed to its last, or to the end of its
// term where that is what ended it: a worker that is frozen leads until then, though
// it checks nothing. Of one that has died the rest of the term is shown, for the
// others wait for its end.
func (b *board) bar(r *reign, now int64) timeline.Reign {
	from, to := since(b.start, r.first.before), since(b.start, r.last.after)
	g := timeline.Reign{Span: timeline.Span{From: min(from, to), To: to}, Token: r.token, Proof: proofNamed(r.proof), Why: r.why}
	term := max(since(b.start, r.ends), to)
	switch {
	case r.why == whyLost:
		g.End = timeline.EndLost
	case r.why == whyAsked:
		g.End = timeline.EndResigned
	case r.why == whyExpired || b.alive(r.worker) && r.ends <= now:
		g.End, g.To, g.Why = timeline.EndExpired, term, whyExpired
	case b.alive(r.worker):
		g.Open = true
	default:
		g.Why, g.Rest = "the process is gone", term-to
	}
	return g
}

// alive tells whether a process has not ended.
func (b *board) alive(w *process) bool {
	for _, s := range b.shifts {
		if s.worker == w {
			return s.to == 0
		}
	}
	return false
}

// proofNamed is the proof with this name.
func proofNamed(name string) core.Proof {
	for p := core.ProofVacant; p <= core.ProofClock; p++ {
		if p.String() == name {
			return p
		}
	}
	return core.ProofNone
}
