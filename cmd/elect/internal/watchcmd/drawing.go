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
	blind    bool // the last outage goes on
	bad      bool
	known    time.Time // until then somebody leads, by the last look that taught something
	version  string    // that it saw
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
	if l.err != nil {
		d.unseen(l.Sent, l.Got, l.err)
		return
	}
	if d.blind {
		o := &d.outages[len(d.outages)-1]
		o.to, o.same = l.Got, l.Bad == nil && l.Version() != "" && l.Version() == d.version
		d.blind = false
	}
	if l.Bad != nil {
		if !d.bad {
			d.note(outage{from: l.Got, why: l.Bad.Error()})
		}
		d.known = l.Got
	} else {
		d.recorder.Saw(l.Got, l.Entry)
		left, _ := l.TimeLeft()
		d.known = l.Got.Add(max(left, 0))
	}
	d.bad, d.version = l.Bad != nil, l.Version()
}

// unseen notes that nobody knows who leads since then, because of a read that failed
// or because no answer came: whatever was announced as unknown is drawn.
func (d *drawing) unseen(since, now time.Time, why error) {
	if d == nil {
		return
	}
	if !d.blind {
		d.note(outage{from: since, known: d.known, why: why.Error()})
		d.blind = true
	}
	d.outages[len(d.outages)-1].to = now
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
	c.Title = "elect watch " + d.store
	forgotten := c.Subtitle != "" // a Recorder says nothing else there
	c.Subtitle = fmt.Sprintf("What was seen from %s to %s.", d.began.Format(time.DateTime), now.Format(time.DateTime))
	if forgotten {
		c.Subtitle += " What was before is forgotten."
	}
	at := func(t time.Time) time.Duration { return t.Round(0).Sub(c.Start) }
	if c.Until == 0 || at(d.began) < c.From && c.From <= 0 {
		c.From = min(c.From, at(d.began))
	}
	c.Until = max(c.Until, at(now), c.From+1)
	if len(d.outages) > 0 {
		c.Rows = append(d.gaps(c.Rows, at, now), d.storeRow(at, now))
	}
	return d.to.Write(c)
}
