package timeline

import (
	"fmt"
	"strconv"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// hints are what is shown when something is pointed at: when, what, which token.

func (s scale) between(from, to time.Duration, open bool) string {
	switch {
	case open:
		return "since " + s.when(from)
	case from == to:
		return s.when(from)
	}
	return s.when(from) + " to " + s.when(to)
}

func (s scale) hintBar(name string, b bar) string {
	if b.count > 1 {
		return fmt.Sprintf("%s\n%s: %d short reigns, fencing tokens %d to %d", s.between(b.from, b.to, false), name, b.count, b.Token, b.lastly)
	}
	text := fmt.Sprintf("%s\n%s leads, fencing token %d", s.between(b.from, b.Reign.To, b.Open), name, b.Token)
	if b.Seen {
		text += ", as another one saw it"
	}
	if b.Proof != core.ProofNone {
		text += "\nwon by the proof " + b.Proof.String()
	}
	return text + prefixed("\n", s.ending(b))
}

func (s scale) hintRest(name string, r rest) string {
	return fmt.Sprintf("%s\n%s leads no more, and its term runs on: others wait for its end\nfencing token %d", s.between(r.from, r.to, false), name, r.token)
}

// ending says how a reign ended.
func (s scale) ending(b bar) string {
	text := s.endedBy(b)
	if end := b.termEnd(); end > b.Reign.To && !b.Open {
		runs := "its term runs on until " + s.when(end)
		if text == "" {
			return runs
		}
		return text + "; " + runs
	}
	return text
}

func (s scale) endedBy(b bar) string {
	why := foreign(b.Why)
	switch {
	case b.Open:
		return "still leads"
	case b.End == EndNone:
		return prefixed("ended: ", why)
	case why == "":
		return "ended by: " + endNames[b.End].name
	}
	return "ended by: " + endNames[b.End].name + ", " + why
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func (s scale) hintDot(name string, d dot) string {
	what := foreign(d.Text)
	names := markNames[d.Kind]
	switch {
	case d.Count > 1:
		what = strconv.Itoa(d.Count) + " " + names.many
	case what == "":
		what = names.name
	}
	text := fmt.Sprintf("%s\n%s: %s", s.between(d.At, d.to, false), name, what)
	if d.Token != 0 {
		text += fmt.Sprintf("\nfencing token %d", d.Token)
	}
	return text
}

func (s scale) hintStrip(name string, f strip) string {
	text := fmt.Sprintf("%s\n%s: %s", s.between(f.from, f.Fault.To, f.Open), name, isolated(named(f.What)))
	if f.count > 1 {
		return fmt.Sprintf("%s\n%s: %s, %d times", s.between(f.from, f.to, false), name, isolated(named(f.What)), f.count)
	}
	return text + prefixed(", ", foreign(f.Detail))
}
