package statuscmd

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Line is one line of what a State says to a person.
type Line struct{ Name, Value string }

// Lines are the state for people, without the name of the store.
func (s State) Lines() []Line {
	lines := []Line{{"state", s.Sentence()}}
	if s.State == Unknown {
		lines[0].Value = s.lastRead()
	}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, Line{name, value})
		}
	}
	switch s.State {
	case Vacant:
	case Unknown:
		add("before", s.before)
		add("last leader", s.leader())
	default:
		add("leader", s.leader())
	}
	switch {
	case s.Foreign != "":
		add("written by", Safe(s.Foreign)+", which has no fencing tokens")
	case s.FencingToken != nil:
		add("fencing token", strconv.FormatInt(*s.FencingToken, 10))
	}
	if s.ElectionNumber != nil {
		add("election number", strconv.FormatInt(*s.ElectionNumber, 10))
	}
	add("time left", s.timeLeft())
	add("version", printed(s.Version)) // whole, for it is copied from here
	add("checkpoint", s.checkpoint())
	add("clocks", s.clocks())
	add("clock warning", s.ClockWarning)
	add("warning", s.Warning)
	return lines
}

// Text is the whole answer of `elect status`.
func (s State) Text() string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Store)
	for _, l := range s.Lines() {
		fmt.Fprintf(&b, "  %-15s  %s\n", l.Name, l.Value)
	}
	return b.String()
}

// Sentence says what the state means.
func (s State) Sentence() string {
	switch s.State {
	case Expired:
		return "expired: the term is over, and nobody has followed"
	case Held:
		return "held: nobody leads, and nobody can until the term is over"
	case Vacant:
		return "vacant: the last leader resigned, anybody can lead at once"
	case Absent:
		return "absent: nothing is stored, anybody can lead at once"
	case Unknown:
		return strings.TrimSuffix(s.lastRead()+"; "+s.before, "; ")
	case Bad:
		if s.Newer {
			return "bad: a newer program has written it, which this one does not understand"
		}
		return "bad: what is stored is not an entry, and nobody can lead"
	}
	return s.State
}

func (s State) leader() string {
	if s.LeaderID == "" {
		return ""
	}
	if len(s.HostPort) == 0 {
		return Safe(s.LeaderID)
	}
	return Safe(s.LeaderID) + " at " + s.Places()
}

// Places are the addresses of the leader, the first few of them.
func (s State) Places() string {
	const most = 4
	places := make([]string, 0, most+1)
	for i, p := range s.HostPort {
		if i == most {
			places = append(places, fmt.Sprintf("%d more", len(s.HostPort)-most))
			break
		}
		places = append(places, Safe(p))
	}
	return strings.Join(places, ", ")
}

func (s State) timeLeft() string {
	if s.TimeLeftMS == nil {
		return ""
	}
	left := time.Duration(*s.TimeLeftMS) * time.Millisecond
	text := fmt.Sprintf("%s of %s", Seconds(left), Seconds(time.Duration(*s.TermMS)*time.Millisecond))
	if s.State == Expired {
		text = fmt.Sprintf("over since %s", Seconds(-left))
	}
	return text + ", by " + s.Judge()
}

// Judge names the clocks that tell the time left.
func (s State) Judge() string {
	switch s.TimeLeftBy {
	case ByStore:
		return "the store's clock (to a second)"
	case ByWriter:
		return "the writer's clock, seen from the store's (the writer did not know the store's time)"
	}
	return "the clocks of the writer and of this host"
}

func (s State) checkpoint() string {
	if len(s.CheckpointBase64) > 0 {
		return "base64 " + base64.StdEncoding.EncodeToString(s.CheckpointBase64)
	}
	return s.Checkpoint
}

func (s State) clocks() string {
	if s.ClockOffsetMS == nil {
		return "the store told no time, so nobody knows whether the local clock is right"
	}
	if offset := time.Duration(*s.ClockOffsetMS) * time.Millisecond; offset != 0 {
		return fmt.Sprintf("the local clock is %s the store's by at least %s", Side(offset), Seconds(offset.Abs()))
	}
	return "the local clock agrees with the store's, to within a second"
}

// Seconds is a duration as people read it, without the digits that nobody needs.
func Seconds(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// longest is how much of a name is shown, in characters.
const longest = 80

// Safe is a name in the middle of a sentence, which whoever chose it must not be able
// to go on with: quoted unless it is one plain word, and cut if it is too long.
func Safe(name string) string {
	end := ""
	if runes := []rune(name); len(runes) > longest {
		name, end = string(runes[:longest]), "..."
	}
	if end == "" && name != "" && Printable(name) && !strings.ContainsAny(name, " \t\"',;\\") {
		return name
	}
	return strconv.Quote(name) + end
}

// printed is text on a line of its own.
func printed(text string) string {
	if Printable(text) {
		return text
	}
	return strconv.Quote(text)
}
