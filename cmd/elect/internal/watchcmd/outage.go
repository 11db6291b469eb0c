package watchcmd

import (
	"time"

	"github.com/cloudelect/cloudelect/core/timeline"
)

// outage is a time in which the store gave no answer, or with no end one answer
// that was no entry.
type outage struct {
	from, to time.Time
	known    time.Time // until when somebody was known to lead
	same     bool      // what was stored then is what had been: nothing was missed
	why      string
}

// storeRow is what the store did.
func (d *drawing) storeRow(at func(time.Time) time.Duration, now time.Time) timeline.Row {
	row := timeline.Row{Name: "the store"}
	for i, o := range d.outages {
		if o.to.IsZero() {
			row.Marks = append(row.Marks, timeline.Mark{At: at(o.from), Kind: timeline.Trouble, Text: "what is stored is no entry: " + o.why})
			continue
		}
		span := timeline.Span{From: at(o.from), To: max(at(o.to), at(o.from))}
		if d.blind && i == len(d.outages)-1 {
			span.To = max(at(now), span.To)
		}
		row.Faults = append(row.Faults, timeline.Fault{Span: span, What: "the store gives no answer", Detail: o.why})
	}
	return row
}

// gaps cuts the reigns where nobody could see them: from the end of the term that was
// known until the store answered again.
func (d *drawing) gaps(rows []timeline.Row, at func(time.Time) time.Duration, now time.Time) []timeline.Row {
	for i := range rows {
		var kept []timeline.Reign
		for _, g := range rows[i].Reigns {
			kept = append(kept, d.seenOf(g, at, now)...)
		}
		rows[i].Reigns = kept
	}
	return rows
}

// seenOf are the parts of a reign that were seen.
func (d *drawing) seenOf(g timeline.Reign, at func(time.Time) time.Duration, now time.Time) (parts []timeline.Reign) {
	for i, o := range d.outages {
		if o.to.IsZero() || o.same {
			continue
		}
		lasts := d.blind && i == len(d.outages)-1
		begin, known, end := at(o.from), max(at(o.known), at(o.from)), at(o.to)
		if lasts {
			end = max(end, at(now))
		}
		if g.From >= known || known >= end || !g.Open && g.To <= begin {
			continue // it was not there, or what was known of it covers all of that
		}
		before := g
		before.Span = timeline.Span{From: g.From, To: known}
		if lasts || !g.Open && g.To <= end { // it may have ended in it, or not
			if !g.Open {
				before.To = min(known, g.To)
			}
			if g.End != timeline.EndResigned {
				before.End, before.Why = timeline.EndNone, "not seen after that: "+o.why
			}
			return append(parts, before)
		}
		before.End, before.Why = timeline.EndNone, "not seen until "+o.to.Format(time.TimeOnly)+": "+o.why
		parts = append(parts, before)
		g.From = end
	}
	return append(parts, g)
}
