package watchcmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
)

// change is what makes a line of its own: another state, leader or reign.
type change struct {
	state, leader string
	token         int64
}

func changeOf(st statuscmd.State) change {
	c := change{state: st.State, leader: st.LeaderID}
	if st.FencingToken != nil {
		c.token = *st.FencingToken
	}
	return c
}

// line says what is the case from now on.
func line(now time.Time, st statuscmd.State, verbose bool) string {
	text := now.Format(time.TimeOnly) + "  " + news(st)
	if verbose && st.ElectionNumber != nil {
		text += fmt.Sprintf(", election number %d", *st.ElectionNumber)
	}
	if st.TimeLeftMS != nil && *st.TimeLeftMS > 0 {
		text += fmt.Sprintf(", %s left by %s", statuscmd.Seconds(timeLeft(st)), st.Judge())
	}
	return text
}

func news(st statuscmd.State) string {
	leader := statuscmd.Safe(st.LeaderID)
	switch st.State {
	case statuscmd.Leading:
		text := fmt.Sprintf("%s leads, %s", leader, reign(st))
		if len(st.HostPort) > 0 {
			text += ", at " + st.Places()
		}
		return text
	case statuscmd.Expired:
		return fmt.Sprintf("nobody leads: the term of %s with %s is over", leader, reign(st))
	case statuscmd.Held:
		return fmt.Sprintf("nobody leads, held by %s, fencing token %d", leader, *st.FencingToken)
	case statuscmd.Vacant:
		return fmt.Sprintf("nobody leads: vacant since the reign with fencing token %d", *st.FencingToken)
	case statuscmd.Absent:
		return "nobody leads: nothing is stored"
	case statuscmd.Unknown:
		return st.Sentence()
	}
	return "nobody can lead: " + cliutil.Line(statuscmd.BadAdvice(st))
}

// reign names it by its fencing token, if it has one.
func reign(st statuscmd.State) string {
	if st.Foreign != "" {
		return "an entry of " + statuscmd.Safe(st.Foreign)
	}
	return fmt.Sprintf("fencing token %d", *st.FencingToken)
}

func timeLeft(st statuscmd.State) time.Duration {
	return time.Duration(*st.TimeLeftMS) * time.Millisecond
}

// view is the live picture: the state, the time left as a bar, and how fresh all
// of that is.
func (w *watcher) view(now time.Time, st statuscmd.State) string {
	width := w.screen.Style().Width
	var b strings.Builder
	add := func(name, value string) {
		b.WriteString(fit(fmt.Sprintf("  %-15s  %s", name, value), width) + "\n")
	}
	b.WriteString(fit(st.Store, width) + "\n")
	for _, l := range st.Lines() {
		add(l.Name, l.Value)
		if l.Name == "time left" {
			add("", w.bar(st, min(width-20, 50)))
		}
	}
	if w.seen == nil {
		add("error", cliutil.Line(errors.New(st.Error)))
		return b.String()
	}
	fresh := fmt.Sprintf("%s ago", statuscmd.Seconds(now.Sub(w.seen.Got)))
	if w.failing != nil {
		fresh += ", and since then the store fails: " + cliutil.Line(w.failing)
	}
	add("last read", fresh)
	return b.String()
}

// bar is the rest of the term.
func (w *watcher) bar(st statuscmd.State, width int) string {
	if width < 10 || *st.TermMS <= 0 {
		return ""
	}
	full := int(float64(width) * float64(*st.TimeLeftMS) / float64(*st.TermMS))
	full = min(max(full, 0), width)
	if w.screen.Style().Unicode {
		return strings.Repeat("█", full) + strings.Repeat("░", width-full)
	}
	return strings.Repeat("#", full) + strings.Repeat(".", width-full)
}

// fit cuts a line that would not fit, and says so with its last characters.
func fit(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width || width < 4 {
		return strings.TrimRight(text, " ")
	}
	return string(runes[:width-3]) + "..."
}
