package chaos

import (
	"fmt"
	"time"
)

// EventKind is what has happened in an election, as the harness has seen or done it.
type EventKind string

// The kinds of events.
const (
	Hired    EventKind = "hired"    // a candidate was started
	Exited   EventKind = "exited"   // and has ended
	Began    EventKind = "began"    // a COMMAND was seen for the first time
	Accepted EventKind = "accepted" // the resource has accepted a record of it
	Refused  EventKind = "refused"  // the resource has refused a record of it
	Gone     EventKind = "gone"     // the COMMAND is no more
	Frozen   EventKind = "frozen"   // the COMMAND and its guard were stopped: nobody can reach it
	Thawed   EventKind = "thawed"   // and go on
	Did      EventKind = "act"      // the harness begins to do something
	Jumped   EventKind = "jumped"   // the store's clock has jumped forward under a running term
	Calm     EventKind = "calm"     // nothing more is done: two terms from now on somebody leads
)

// Event is one event of an election.
type Event struct {
	At       time.Duration // on the harness's clock, since the run began
	Election int
	Kind     EventKind
	Token    int64         // of Began ... Thawed; Did: of the leader it is done to; Calm: at least that of who must lead
	Act      Act           // of Did
	Ending   Ending        // of Did
	Offset   time.Duration // of Hired: how far its host's clock is off
	Text     string        // for people
}

// String is a line of an election's history.
func (e Event) String() string {
	line := fmt.Sprintf("%9.3f s  %-8s", e.At.Seconds(), e.Kind)
	if e.Token != 0 {
		line += fmt.Sprintf("  token %d", e.Token)
	}
	if e.Act != "" {
		line += fmt.Sprintf("  %s (%s)", e.Act, e.Ending)
	}
	if e.Offset != 0 {
		line += fmt.Sprintf("  clock %v off", e.Offset)
	}
	if e.Text != "" {
		line += "  " + e.Text
	}
	return line
}

// history keeps the end of what has happened in an election. Of the records of a reign,
// which are many, it has the first ones, and how many there were.
type history struct {
	lines []string
	took  map[int64]int // records accepted, by token
}

const (
	historyLines = 30
	historyKept  = 4 * historyLines
)

func (h *history) add(e Event) {
	if h.took == nil {
		h.took = make(map[int64]int)
	}
	switch e.Kind {
	case Accepted:
		if h.took[e.Token]++; h.took[e.Token] > 1 {
			return
		}
	case Gone:
		e.Text = fmt.Sprintf("after %d records  %s", h.took[e.Token], e.Text)
	}
	h.note(e.String())
}

func (h *history) note(line string) {
	if h.lines = append(h.lines, line); len(h.lines) > historyKept {
		h.lines = append([]string(nil), h.lines[len(h.lines)-historyLines:]...)
	}
}

// last is the end of it.
func (h *history) last() []string {
	return append([]string(nil), h.lines[max(len(h.lines)-historyLines, 0):]...)
}
