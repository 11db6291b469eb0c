package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// Renew prolongs the reign to TermLength from now, in one attempt that is read
// back when its outcome is unknown. nil means confirmed. An error that Is
// ErrLeadershipLost, ErrTermExpired or ErrResigned means that the reign is
// over; after any other error it lasts until its term's end, and Renew may be
// called again.
func (l *Leadership) Renew(ctx context.Context) error {
	return l.renewIf(ctx, nil)
}

// renewIf is Renew if needed still says so when no other write is under way.
func (l *Leadership) renewIf(ctx context.Context, needed func() bool) error {
	sent, stored, err := l.renew(ctx, needed, nil)
	if err == nil && stored != sent {
		// An older renewal, given up before, was what is stored. It counts from
		// its own sending; the caller wants a whole term from now.
		_, _, err = l.renew(ctx, needed, nil)
	}
	return err
}

func (l *Leadership) renew(ctx context.Context, needed func() bool, change func(*entry.RaceEntry)) (sent, stored string, err error) {
	if err := l.lock(ctx, l.ctx.Done()); err != nil {
		return "", "", l.orOver(err)
	}
	defer l.unlock()
	now, err := l.look() // after the wait for the lock, if there was one
	if err != nil {
		return "", "", err
	}
	if needed != nil && !needed() {
		return "", "", nil
	}
	sent, stored, err = l.send(ctx, l.ctx, OpRenew, now, l.reignLeft(now), l.c.TermLength, change)
	if err != nil {
		err = l.orOver(err)
	}
	return sent, stored, err
}

// orOver prefers the reason why the reign is over to a consequence of it.
func (l *Leadership) orOver(err error) error {
	over := l.Check()
	if over == nil || errors.Is(err, over) {
		return err
	}
	return over
}

// SaveCheckpoint stores b with a renewal, for the next leader to find. It
// tries again after unknown answers until ctx or the reign ends: nil means
// stored; any error means that b may or may not be stored, but never by
// overwriting a successor's entry. At most entry.MaxCheckpoint bytes.
func (l *Leadership) SaveCheckpoint(ctx context.Context, b []byte) error {
	if err := checkpointFits(b); err != nil {
		return err
	}
	b = bytes.Clone(b)
	mine := map[string]bool{}
	for n := 0; ; n++ {
		sent, stored, err := l.renew(ctx, nil, func(e *entry.RaceEntry) { e.Checkpoint = b })
		mine[sent] = true
		switch {
		case err == nil && mine[stored]:
			return nil
		case err == nil:
			continue // an earlier renewal was the one that was stored
		case l.Check() != nil:
			return err
		case ctx.Err() != nil:
			return errors.Join(context.Cause(ctx), err)
		}
		waitCtx, release := l.Bind(ctx)
		pause(waitCtx, l.c.Clock, l.c.retryPause(n))
		release()
	}
}

func checkpointFits(b []byte) error {
	if len(b) > entry.MaxCheckpoint {
		return fmt.Errorf("%w: the checkpoint has %d bytes, more than %d", ErrInvalidConfig, len(b), entry.MaxCheckpoint)
	}
	return nil
}

// retryPause is the pause after the n-th failure in a row: it doubles, is
// jittered, and is at most RenewInterval.
func (s *settings) retryPause(n int) time.Duration {
	base := min(max(s.RenewInterval/8, s.minWrite()/2)<<min(n, 8), s.RenewInterval)
	return base/2 + spread(s.LeaderID, uint64(n), base/2)
}

// retryWithin is the pause after the n-th failure in a row when the term is
// over in left: shorter towards the end, so that a store that recovers is not
// slept over.
func (s *settings) retryWithin(n int, left time.Duration) time.Duration {
	return min(s.retryPause(n), max(left/4, s.TermLength/32, s.minWrite()/2))
}

// spread returns a duration in [0, most] that is the same for the same name and
// number and looks random over them: candidates with different names do not
// act in step, and a run can be repeated.
func spread(name string, n uint64, most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	h := uint64(14695981039346656037) ^ n
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return time.Duration(h % (uint64(most) + 1))
}
