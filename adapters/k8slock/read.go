package k8slock

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// readPatiently is read for Get. client-go reads once before a release, and where
// that fails the next leader waits for a whole lease; so it is tried up to three times then,
// in the time of one request. A leader whose lease is good writes without reading,
// and reads only when that has failed: if it has not, this is the read before a release.
func (l *Lock) readPatiently(ctx context.Context) (e *entry.RaceEntry, own bool, err error) {
	const tries = 3
	limit := l.opts.callTimeout()
	end := l.time.Look().AtMost + limit
	l.mu.Lock()
	releasing := l.token != 0 && !l.failing
	l.mu.Unlock()
	for try := 1; ; try++ {
		e, own, err = l.read(ctx, limit)
		if err == nil || !releasing || try == tries || !passing(err) || !l.opts.Clock.SleepFor(ctx, l.opts.callTimeout()/8) {
			return e, own, err
		}
		if limit = end - l.time.Look().AtMost; limit <= 0 {
			return nil, false, err
		}
		l.mu.Lock()
		l.failing = false // no renewal has failed, only this read
		l.mu.Unlock()
	}
}

// passing tells whether a read that failed with err may succeed if it is repeated.
func passing(err error) bool {
	for _, lasting := range []error{core.ErrBadEntry, core.ErrBroken, core.ErrInvalidConfig, ErrRefused} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	return apierrors.ReasonForError(err) == meta.StatusReasonUnknown
}

// read asks the store, and knows the answer when it returns. Whoever calls it
// has the turn. A request that takes longer than limit is given up.
func (l *Lock) read(ctx context.Context, limit time.Duration) (e *entry.RaceEntry, own bool, err error) {
	sent := l.time.Look()
	e, err = bounded(ctx, l, limit, l.decider.ReadCurrent)
	got := l.time.Look()
	switch {
	case err == nil && e == nil:
		err = errors.New("the decider answered a read with neither an entry nor an error")
	case err == nil && e.Foreign() != "":
		err = foreign(e)
	case err == nil && !e.Absent():
		err = e.Validate()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.unread(errors.Is(err, core.ErrBadEntry))
		if errors.Is(err, core.ErrBadEntry) {
			l.lose()
		}
		l.fail(ctx)
		return nil, false, fmt.Errorf("k8slock: %s: %w", l.opts.Name, err)
	case e.Absent():
		l.lose()
		if wait := l.sawNothing(e, sent, got, l.opts.LeaseDuration); wait > 0 {
			return nil, false, fmt.Errorf("k8slock: %s: the entry has vanished; whoever led by it may do so for another %v: %w",
				l.opts.Name, wait.Round(time.Millisecond), ErrRefused)
		}
		return nil, false, l.notFound()
	}
	mine := l.saw(e, sent, got)
	switch {
	case mine == nil || e.LeaderID != l.identity:
		l.lose()
	case l.token != 0:
		l.renewed = max(l.renewed, mine.sent)
	}
	return e, mine != nil, nil
}
