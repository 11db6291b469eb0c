package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

const (
	// attempts bounds how often a record is sent: a renewal may collide with it, or its
	// answer be lost.
	attempts = 5
	// firstPause is the time before the second attempt; the next are longer by as much.
	firstPause = 50 * time.Millisecond
	// The bounds of an attempt, which is a quarter of the term like a request of the
	// election. It is up to five requests, and the term may be short, or days.
	leastPatience, mostPatience = time.Second, 10 * time.Second
)

// Put stores r as Write does, for a reign with this term. An attempt that gets no
// answer is given up: the reign is renewed meanwhile, so nothing else would end it. The
// next one finds out whether the record was stored, and stores it if not.
//
// An error that Is core.ErrLeadershipLost, core.ErrTermExpired or core.ErrBroken means
// that nothing was stored, unless an attempt before was; one that is ctx's comes from
// its end; any other one says that the store did not answer, or only with errors.
func (s *Store) Put(ctx context.Context, l *core.Leadership, term time.Duration, r Record) (stored bool, err error) {
	patience := min(max(term/4, leastPatience), mostPatience)
	for try := 1; ; try++ {
		stored, err = s.attempt(ctx, l, patience, r)
		switch {
		case err == nil, errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired), errors.Is(err, core.ErrBroken):
			return stored, err
		case ctx.Err() != nil:
			return false, fmt.Errorf("store: %w: %w", context.Cause(ctx), err)
		case l.Check() != nil:
			return false, fmt.Errorf("store: %w: %w", l.Check(), err)
		case try == attempts:
			return false, fmt.Errorf("store: given up after %d attempts of %v at most: %w", attempts, patience, err)
		}
		select {
		case <-time.After(time.Duration(try) * firstPause):
		case <-ctx.Done(): // said above, by an attempt that sends nothing
		}
	}
}

func (s *Store) attempt(ctx context.Context, l *core.Leadership, patience time.Duration, r Record) (bool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer from the store within %v", patience))
	defer cancel()
	return s.Write(ctx, l, r)
}

// same tells whether r is other, read back: what an attempt before has stored.
func (r Record) same(other Record) bool {
	return r.Slot == other.Slot && r.LeaderID == other.LeaderID && r.FencingToken == other.FencingToken && r.DoneAt.Equal(other.DoneAt)
}
