package statuscmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
)

// far is by how much an honest writer's times are ahead at most: SentBy is an upper
// bound, but not by much.
func (s Sight) far(ahead time.Duration) bool { return ahead > max(time.Minute, s.Entry.TermLength) }

// warning tells of an entry whose times no election has written, and which would be
// waited for in vain: the time left of it never gets less. "" is for all others.
func (s Sight) warning(store string) string {
	e, date := s.Entry, s.Date()
	if e.Foreign() != "" {
		return s.foreignWarning(store)
	}
	way := fmt.Sprintf("only a candidate that sees it unchanged for a whole term can follow, or an operator ends it: elect break --store %s --fencing-token %d",
		cliutil.ShellWord(store), e.FencingToken)
	switch {
	case !date.IsZero() && !e.SentBy.IsZero():
		if ahead := e.SentBy.Sub(date); s.far(ahead) {
			return fmt.Sprintf("sent_by is %s ahead of the store's clock, so the store's time cannot free this election: %s", roughly(ahead), way)
		}
	default:
		now, whose := s.Got.Round(0), "this host's"
		if !date.IsZero() {
			now, whose = date, "the store's"
		}
		if ahead := e.TermExpiry.Add(-e.TermLength).Sub(now); s.far(ahead) {
			return fmt.Sprintf("term_expiry is %s further ahead of %s clock than the term is long, so clocks cannot free this election: %s", roughly(ahead), whose, way)
		}
	}
	return ""
}

// longestForeign is how much of a term another library's leader may have left before
// that looks like a mistake: it renews every few seconds or minutes.
const longestForeign = time.Hour

// foreignWarning says what an entry of another library does not tell, and what to do
// about a term that nobody will see the end of.
func (s Sight) foreignWarning(store string) string {
	text := fmt.Sprintf("the form of %s does not tell the writer's clock", s.Entry.Foreign())
	left, _ := s.TimeLeft()
	if left <= longestForeign {
		return text
	}
	return fmt.Sprintf("%s; term_expiry is %s ahead, and nobody follows before, unless an operator ends it, with the longest term that candidates of that library use here: %s",
		text, roughly(left), ForeignBreak(store, s.Version(), DefaultForeignTerm))
}

// DefaultForeignTerm is the term that elect break keeps an election closed for where
// what is stored does not tell one.
const DefaultForeignTerm = time.Minute

// ForeignBreak is the command that ends the reign of an entry of another library, which
// has no fencing token to name it by. A term of 0 is left out.
func ForeignBreak(store, version string, term time.Duration) string {
	line := fmt.Sprintf("elect break --store %s --version %s", cliutil.ShellWord(store), cliutil.ShellWord(version))
	if term > 0 {
		line += " --term " + shortly(term)
	}
	return line
}

// shortly is 1m for 1m0s.
func shortly(d time.Duration) string {
	text := d.String()
	if rest, ok := strings.CutSuffix(text, "m0s"); ok {
		text = rest + "m"
	}
	return text
}

// roughly is a long time in words.
func roughly(d time.Duration) string {
	switch days := d / (24 * time.Hour); {
	case days > 2*365:
		return fmt.Sprintf("%d years or more", days/366)
	case days > 2:
		return fmt.Sprintf("%d days", days)
	}
	return Seconds(d)
}
