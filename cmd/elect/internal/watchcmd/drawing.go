package watchcmd

import (
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/picture"
	"github.com/cloudelect/cloudelect/core/timeline"
)

// drawEvery is how often the picture of --timeline is written, so that little is
// missing from it when watch is killed.
const drawEvery = 10 * time.Second

// mostOutages is how many of them are remembered.
const mostOutages = 1000

// drawing is what was seen, for the picture.
type drawing struct {
	to       *picture.File
	store    string
	began    time.Time
	recorder timeline.Recorder
	outages  []outage
	failing  bool
	bad      bool
}

// outage is a time in which the store gave no answer, or with no end one answer
// that was no entry.
type outage struct {
	from, to time.Time
	why      string
}

func (d *drawing) begin(store string, now time.Time) {
	if d != nil {
		d.store, d.began = store, now
	}
}

// take notes a look.
func (d *drawing) take(l look) {
	if d == nil {
		return
	}
	if n := len(d.outages); d.failing && n > 0 {
		d.outages[n-1].to = l.Got
	}
	switch {
	case l.err != nil && !d.failing:
		d.note(outage{from: l.Sent, to: l.Got, why: l.err.Error()})
	case l.err == nil && l.Bad != nil && !d.bad:
		d.note(outage{from: l.Got, why: l.Bad.Error()})
	case l.err == nil && l.Bad == nil:
		d.recorder.Saw(l.Got, l.Entry)
	}
	d.failing = l.err != nil
	if l.err == nil {
		d.bad = l.Bad != nil
	}
}

func (d *drawing) note(o outage) {
	if len(d.outages) >= mostOutages {
		d.outages = append(d.outages[:0], d.outages[mostOutages/2:]...)
	}
	d.outages = append(d.outages, o)
}

// write puts the picture as it is now into its file.
func (d *drawing) write(now time.Time) error {
	if d == nil {
		return nil
	}
	c := d.recorder.ChartAt(now)
	if c.Start.IsZero() { // there was no answer yet
		c.Start = d.began.Round(0)
	}
	c.Title, c.Subtitle = "elect watch "+d.store, fmt.Sprintf("What was seen from %s to %s. %s", d.began.Format(time.DateTime), now.Format(time.DateTime), c.Subtitle)
	at := func(t time.Time) time.Duration { return t.Round(0).Sub(c.Start) }
	if c.Until == 0 || at(d.began) < c.From && c.From <= 0 {
		c.From = min(c.From, at(d.began))
	}
	c.Until = max(c.Until, at(now), c.From+1)
	if len(d.outages) > 0 {
		row := timeline.Row{Name: "the store"}
		for _, o := range d.outages {
			if o.to.IsZero() {
				row.Marks = append(row.Marks, timeline.Mark{At: at(o.from), Kind: timeline.Trouble, Text: "what is stored is no entry: " + o.why})
				continue
			}
			span := timeline.Span{From: at(o.from), To: max(at(o.to), at(o.from))}
			row.Faults = append(row.Faults, timeline.Fault{Span: span, What: "the store gives no answer", Detail: o.why})
		}
		c.Rows = append(c.Rows, row)
	}
	return d.to.Write(c)
}
