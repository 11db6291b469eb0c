package doctorcmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/core"
)

// finding is what doctor has to say.
type finding struct {
	Store   string `json:"store"`
	Verdict string `json:"verdict"`
	core.ProbeReport
	// ClockWarning says by how much this host's clock is wrong at least, and what to do.
	ClockWarning string `json:"clock_warning,omitempty"`
	// Election is the election itself, as status shows it.
	Election *statuscmd.State `json:"election,omitempty"`
}

// text is the check list for people, with the verdict as its last line.
func (f finding) text() string {
	var b strings.Builder
	for _, c := range f.Checks {
		fmt.Fprintf(&b, "  %-4s  %s", mark(c), c.Name)
		switch {
		case c.Passed && c.Detail != "", mark(c) == untried:
			fmt.Fprintf(&b, " (%s)", c.Detail)
		case !c.Passed && c.Detail != "":
			fmt.Fprintf(&b, "\n          %s", oneLine(c.Detail))
		}
		b.WriteByte('\n')
		if !c.Passed && c.Advice != "" {
			fmt.Fprintf(&b, "          -> %s\n", oneLine(c.Advice))
		}
	}
	b.WriteByte('\n')
	for _, l := range []struct{ name, value string }{
		{"round trip", f.roundTrip()}, {"clocks", f.clocks()}, {"warning", f.ClockWarning}, {"election", f.election()}, {"asked again", f.unclear()}, {"left behind", strings.Join(f.LeftBehind, ", ")},
	} {
		if l.value != "" {
			fmt.Fprintf(&b, "  %-11s  %s\n", l.name, l.value)
		}
	}
	fmt.Fprintf(&b, "\nverdict: %s\n", f.Verdict)
	return b.String()
}

// untried marks a check that nothing is known about.
const untried = "-"

func mark(c core.ProbeCheck) string {
	switch {
	case c.Passed:
		return "ok"
	case c.Inconclusive && c.Advice == "":
		return untried
	case c.Optional:
		return "note"
	case c.Inconclusive:
		return "?"
	}
	return "NO"
}

// verdict is one sentence.
func verdict(r core.ProbeReport) string {
	var failed, open []string
	for _, c := range r.Checks {
		switch mark(c) {
		case "NO":
			failed = append(failed, c.Name)
		case "?":
			open = append(open, c.Name)
		}
	}
	switch {
	case r.Usable:
		return "yes, this store can carry elections"
	case len(failed) > 0:
		return "no, this store must not be used; what failed: " + strings.Join(failed, "; ")
	}
	return "no, it is not proved that this store can carry elections; what stayed open: " + strings.Join(open, "; ")
}

func (f finding) roundTrip() string {
	if f.RoundTripWorst == 0 {
		return ""
	}
	return fmt.Sprintf("%s median, %s worst of ten reads", short(f.RoundTripMedian), short(f.RoundTripWorst))
}

// clocks says what is proved about this host's clock and the store's.
func (f finding) clocks() string {
	low, high := f.ClockAheadMin, f.ClockAheadMax
	switch {
	case f.Answers == 0:
		return ""
	case f.DatedAnswers == 0:
		return "the store tells no time, so nobody knows whether this host's clock is right"
	case low > high:
		return "the store's servers do not agree with each other"
	case low > 0:
		return fmt.Sprintf("this host is ahead of the store by %s to %s", short(low), short(high))
	case high < 0:
		return fmt.Sprintf("this host is behind the store by %s to %s", short(-high), short(-low))
	}
	return fmt.Sprintf("this host and the store agree, to within %s", short(max(high, -low)))
}

// clockWarning warns of a clock that is farther off than elections tolerate by default.
func (f finding) clockWarning() string {
	offset := f.ClockAheadMin
	if offset <= 0 {
		offset = min(f.ClockAheadMax, 0)
	}
	if f.ClockAheadMin > f.ClockAheadMax || offset.Abs() <= time.Second {
		return ""
	}
	return fmt.Sprintf("this host's clock is %s the store's by at least %s: set it%s; until then set NoClockProof in every candidate",
		statuscmd.Side(offset), short(offset.Abs()), statuscmd.Signed(f.Store, offset))
}

// election is its state, and the time left with the clock that tells it.
func (f finding) election() string {
	if f.Election == nil {
		return ""
	}
	text := f.Election.Sentence()
	for _, l := range f.Election.Lines() {
		switch l.Name {
		case "leader":
			text += ": " + l.Value
		case "time left":
			text += ", time left " + l.Value
		}
	}
	return text
}

func (f finding) unclear() string {
	if f.UnclearAnswers == 0 {
		return ""
	}
	return fmt.Sprintf("%d requests, because the store was busy or its answer was not clear", f.UnclearAnswers)
}

// short is a duration without the digits that nobody reads.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Minute:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
