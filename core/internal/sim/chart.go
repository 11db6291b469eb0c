package sim

import (
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core/timeline"
)

// howEnded is endOf for a picture.
func howEnded(why error) timeline.End {
	switch endOf(why) {
	case "end resigned":
		return timeline.EndResigned
	case "end expired":
		return timeline.EndExpired
	case "end lost":
		return timeline.EndLost
	}
	return timeline.EndNone
}

// Chart is the run as a picture, all of it.
func (r *Result) Chart(p Plan) *timeline.Chart {
	c := &timeline.Chart{Title: fmt.Sprintf("simulation, profile %s, seed %d", p.Profile.Name, p.Seed), Rows: make([]timeline.Row, len(p.Hosts)+1)}
	var last time.Duration
	s := sketch{rows: c.Rows, hosts: p.Hosts, open: make([]opened, len(p.Hosts))}
	for _, n := range r.diary.sorted() {
		s.add(n)
		last = max(last, n.at)
	}
	for i := range p.Hosts {
		s.close(i, last, true)
		befalls(&c.Rows[i], p.Hosts[i], last)
	}
	store := &c.Rows[len(p.Hosts)]
	store.Name = "the store"
	for _, o := range p.Outages {
		store.Faults = append(store.Faults, timeline.Fault{Span: timeline.Span{From: o.from, To: o.to}, What: "nobody reaches the store"})
	}
	for _, o := range p.Corruptions {
		store.Faults = append(store.Faults, timeline.Fault{Span: timeline.Span{From: o.from, To: o.to}, What: "the entry cannot be read"})
	}
	if len(store.Faults)+len(store.Marks) == 0 {
		c.Rows = c.Rows[:len(p.Hosts)]
	}
	for _, v := range r.Violations {
		c.Violations = append(c.Violations, timeline.Violation{At: v.At, Text: v.Kind + ": " + v.What})
	}
	c.Until = max(last, 1)
	c.Subtitle = fmt.Sprintf("True time from the beginning. Terms of up to %v; the faults end at %v.", p.Longest, p.Healed.Round(time.Millisecond))
	return c
}

// befalls adds what the plan lets happen to a host.
func befalls(row *timeline.Row, h Host, last time.Duration) {
	row.Name = h.Name
	for _, s := range h.Cuts {
		row.Faults = append(row.Faults, timeline.Fault{Span: timeline.Span{From: s.from, To: s.to}, What: "no connection"})
	}
	for _, f := range h.Faults {
		switch {
		case f.At > last:
		case f.Kind == faultRate:
			row.Marks = append(row.Marks, timeline.Mark{At: f.At, Kind: timeline.Trouble, Text: fmt.Sprintf("the rate of the clocks changes to %.4f", f.Rate)})
		case f.Kind == faultStep:
			row.Marks = append(row.Marks, timeline.Mark{At: f.At, Kind: timeline.Trouble, Text: fmt.Sprintf("the wall clock steps by %v", f.By.Round(time.Millisecond))})
		default:
			detail := ""
			if f.By != 0 && f.Kind == faultShifted {
				detail = fmt.Sprintf("by %v", f.By.Round(time.Millisecond))
			}
			if f.CatchUp {
				detail = "and catches up"
			}
			row.Faults = append(row.Faults, timeline.Fault{Span: timeline.Span{From: f.At, To: f.At + f.For}, What: string(f.Kind), Detail: detail})
		}
	}
}
