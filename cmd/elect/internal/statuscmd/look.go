package statuscmd

import (
	"context"
	"errors"
	"fmt"
	"time"

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
// was learned.
func Look(ctx context.Context, d core.RaceDecider, atMost time.Duration) (Sight, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, atMost, fmt.Errorf("no answer within %v", atMost))
	defer cancel()
	s := Sight{Sent: time.Now()}
	e, err := d.ReadCurrent(ctx)
	s.Got = time.Now()
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

// TimeLeft is how long the term lasted on when the answer came, negative when it
// was over, and whose clock says so: the store's, to within a second, where the
// entry has SentBy and the answer a Date; else the local one, which is as good as
// the clocks of this host and of the writer agree. It is never more than a term:
// SentBy is an upper bound, and a Date a lower one.
func (s Sight) TimeLeft() (left time.Duration, byStore bool) {
	if date := s.Date(); !date.IsZero() && !s.Entry.SentBy.IsZero() {
		return s.LeftAt(date), true
	}
	return min(s.Entry.TermExpiry.Sub(s.Got.Round(0)), s.Entry.TermLength), false
}

// LeftAt is what is left of the term when the store's clock shows now.
func (s Sight) LeftAt(now time.Time) time.Duration {
	return min(s.Entry.SentBy.Add(s.Entry.TermLength).Sub(now), s.Entry.TermLength)
}
