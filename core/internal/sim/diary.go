package sim

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// diary is what happened in a run. It is written in few words, and read when a
// run has failed.
type diary struct {
	mu      sync.Mutex
	entries []note
}

// note is one thing that happened.
type note struct {
	at   time.Duration
	who  int
	what noted
	a, b int64
	text string
	// Of a version that was stored, for the picture: when its term is over in true
	// time, and whether it ends its reign.
	ends    time.Duration
	resigns bool
}

type noted int8

const (
	happened   noted = iota // a fault: text; a how long, b how far
	passed                  // the end of one
	started                 // a process
	crashed                 // it ended without a word
	stopped                 // it ended
	elected                 // a: token, b: proof
	ended                   // a: token, b: how, as timeline.End has it
	wroteEntry              // a: number, b: token, text: leader
	lostRace                // a: token of the other one
	refused                 // a write to the resource; a: token
)

func (d *diary) note(who int, what noted, a, b int64, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, note{at: trueTime(), who: who, what: what, a: a, b: b, text: text})
}

// stored notes a version that was sent then.
func (d *diary) stored(who int, sent time.Duration, e *entry.RaceEntry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, note{at: trueTime(), who: who, what: wroteEntry, a: int64(e.ElectionNumber), b: e.FencingToken, text: e.LeaderID,
		ends: sent + e.TermLength, resigns: e.Vacant() || e.Held})
}

// sorted are the notes in an order that does not depend on the scheduler.
func (d *diary) sorted() []note {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.entries)
	slices.SortStableFunc(all, func(x, y note) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.who, y.who), cmp.Compare(x.what, y.what),
			cmp.Compare(x.a, y.a), cmp.Compare(x.text, y.text))
	})
	return all
}

// lines are the notes for people.
func (d *diary) lines(p Plan) []string {
	var lines []string
	for _, n := range d.sorted() {
		lines = append(lines, fmt.Sprintf("%14.9f  %-6s %s", n.at.Seconds(), nameOf(p, n.who), n))
	}
	return lines
}

func nameOf(p Plan, who int) string {
	if who < 0 || who >= len(p.Hosts) {
		return "-"
	}
	return p.Hosts[who].Name
}

// String is what happened, in words.
func (n note) String() string {
	switch n.what {
	case happened:
		s := n.text
		if n.a != 0 {
			s += fmt.Sprintf(" for %v", time.Duration(n.a))
		}
		if n.b != 0 {
			s += fmt.Sprintf(" by %v", time.Duration(n.b))
		}
		return s
	case passed:
		return "no more: " + n.text
	case started:
		return "starts (" + n.text + ")"
	case crashed:
		return "crashes"
	case stopped:
		return "stops"
	case elected:
		return fmt.Sprintf("LEADS with the token %d, by %v", n.a, core.Proof(n.b))
	case ended:
		return fmt.Sprintf("leads no more (token %d): %s", n.a, n.text)
	case wroteEntry:
		if n.text == "" {
			return fmt.Sprintf("stored: version %d, vacant after the token %d", n.a, n.b)
		}
		return fmt.Sprintf("stored: version %d, %s with the token %d", n.a, n.text, n.b)
	case lostRace:
		return fmt.Sprintf("loses the race for the token %d", n.a)
	case refused:
		return fmt.Sprintf("the resource refuses its write with the token %d", n.a)
	}
	return fmt.Sprint(n.what)
}
