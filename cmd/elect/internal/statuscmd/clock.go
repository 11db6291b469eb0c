package statuscmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// What is known of this host's clock, as State.LocalClock has it.
const (
	ClockAgrees  = "agrees"  // with the store's, to within a second
	ClockAhead   = "ahead"   // of the store's
	ClockBehind  = "behind"  // the store's
	ClockUnknown = "unknown" // the store told no time
)

// tolerated is by how much clocks may be proved to differ before a person is told to
// see to them: elections allow for a second between hosts by default.
const tolerated = time.Second

// refused is by how much a clock may be wrong before AWS refuses what was signed by it.
const refused = 5 * time.Minute

// ClockOffset is by how much the local wall clock is proved to be ahead
// (positive) or behind (negative) of the store's; zero where the two may agree.
// It is false where the store told no time.
func (s Sight) ClockOffset() (time.Duration, bool) {
	date := s.Date()
	if date.IsZero() {
		return 0, false
	}
	if ahead := s.Sent.Round(0).Sub(date.Add(time.Second)); ahead > 0 {
		return ahead, true
	}
	return min(s.Got.Round(0).Sub(date), 0), true
}

func (s Sight) localClock() string {
	switch offset, known := s.ClockOffset(); {
	case !known:
		return ClockUnknown
	case offset > 0:
		return ClockAhead
	case offset < 0:
		return ClockBehind
	}
	return ClockAgrees
}

// WriterAhead is by how much the wall clock of whoever wrote the entry is proved to have
// been ahead of the store's: its TermExpiry is by the later of the two. One that was
// behind does not show.
func (s Sight) WriterAhead() time.Duration {
	if s.Entry.SentBy.IsZero() || s.Bad != nil {
		return 0
	}
	return max(s.Entry.TermExpiry.Sub(s.Entry.SentBy)-s.Entry.TermLength, 0)
}

// clockWarning says which clocks are wrong and by how much; "" if none is known to be.
func (s Sight) clockWarning(store string) string {
	var wrong []string
	offset, _ := s.ClockOffset()
	if side := Side(offset); offset.Abs() > tolerated {
		wrong = append(wrong, fmt.Sprintf("this host's clock is %s the store's by at least %s: set it%s", side, roughly(offset.Abs()), Signed(store, offset)))
	}
	if ahead := s.WriterAhead(); ahead > tolerated {
		who := "whoever wrote the entry"
		if s.Entry.LeaderID != "" {
			who = Safe(s.Entry.LeaderID)
		}
		wrong = append(wrong, fmt.Sprintf("the clock of %s was ahead of the store's by at least %s when it wrote the entry: set it there", who, roughly(ahead)))
	}
	return strings.Join(wrong, "; ")
}

// Side says on which side of the store's a clock is that is off by so much.
func Side(offset time.Duration) string {
	if offset < 0 {
		return "behind"
	}
	return "ahead of"
}

// Signed says what a clock that is off by so much does to requests that are signed by
// it; "" where it does nothing, or nothing is signed.
func Signed(store string, offset time.Duration) string {
	loc, err := stores.Parse(store)
	if err != nil || loc.Scheme != stores.SchemeS3 && loc.Scheme != stores.SchemeDynamoDB || offset.Abs() <= refused {
		return ""
	}
	return " (until then AWS refuses the first request of every program here, and the SDK signs it anew by the time of that answer)"
}
