package statuscmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Sight is one look at an election.
type Sight struct {
	Entry entry.RaceEntry
	// Bad says why what is stored is no entry; nil: it is one, or nothing is
	// stored. Entry has a usable token then and nothing else.
	Bad error
	// Sent and Got are just before the request and just after its answer.
	Sent, Got time.Time
}

// Look reads the entry, for at most the given time. An error means that nothing
// was learned. The clock is the local one.
func Look(ctx context.Context, clock clocks.Clock, d core.RaceDecider, atMost time.Duration) (Sight, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, atMost, fmt.Errorf("no answer within %v", atMost))
	defer cancel()
	s := Sight{Sent: clock.Now()}
	e, err := d.ReadCurrent(ctx)
	s.Got = clock.Now()
	switch {
	case e != nil && errors.Is(err, core.ErrBadEntry):
		s.Entry, s.Bad = *e, err
		return s, nil
	case err != nil:
		return s, err
	case e == nil:
		return s, errors.New("the store's answer was empty: it is not a store of elections")
	}
	s.Entry = *e
	return s, nil
}

// Date is the store's clock on the answer, in whole seconds cut off, or zero
// where it told none.
func (s Sight) Date() time.Time {
	if t, ok := s.Entry.Token.(core.DatedToken); ok {
		return t.StoreDate()
	}
	return time.Time{}
}

// Version is the name of the version that was seen, as `elect break --version`
// takes it, or "" in a store whose versions have none.
func (s Sight) Version() string {
	if t, ok := s.Entry.Token.(fmt.Stringer); ok && !s.Entry.Absent() {
		return t.String()
	}
	return ""
}

// TimeLeft is how long the term lasted on when the answer came, negative when it
// was over, and whose clock says so. Where the answer has a Date it is the store's
// (ByStore, to within a second) if the entry has SentBy, and else what the writer took
// its own clock for, seen from the store's (ByWriter): a local clock that is wrong changes
// neither. Without a Date it is the writer's clock against the local one (ByLocal). It is
// never more than a term: SentBy is an upper bound, and a Date a lower one.
func (s Sight) TimeLeft() (left time.Duration, by string) {
	if date := s.Date(); !date.IsZero() {
		left, by = s.LeftAt(date)
		return left, by
	}
	return min(s.Entry.TermExpiry.Sub(s.Got.Round(0)), s.Entry.TermLength), ByLocal
}

// LeftAt is what is left of the term when the store's clock shows now.
func (s Sight) LeftAt(now time.Time) (left time.Duration, by string) {
	end, by := s.Entry.SentBy.Add(s.Entry.TermLength), ByStore
	if s.Entry.SentBy.IsZero() {
		end, by = s.Entry.TermExpiry, ByWriter
	}
	return min(end.Sub(now), s.Entry.TermLength), by
}

// Whose clock tells the time left, as State.TimeLeftBy has it.
const (
	ByStore  = "store"
	ByWriter = "writer" // its clock against the store's: it did not know the store's time
	ByLocal  = "local"  // its clock against this host's: the store told no time
)
