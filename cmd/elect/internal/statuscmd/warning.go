package statuscmd

import (
	"fmt"
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
