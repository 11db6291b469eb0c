package k8slock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Create stores the first record, if the last Get has found nothing and nothing is
// stored still. Otherwise the error Is AlreadyExists. Else like Update.
func (l *Lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.store(ctx, &r, true)
}

// Update overwrites the version that the last Get or the last stored write has
// brought, and no other. The outcomes:
//
//   - nil: stored.
//   - Conflict (apimachinery's errors): proved not stored, another version is
//     current. errors.As finds the decider's core.FailedAcquisitionErr.
//   - ErrNotRead, ErrRefused, core.ErrInvalidConfig: not sent.
//   - any other: the decider's error. The record may have been stored, unless the
//     error Is core.ErrBroken.
//
// After an error from the store the next Update fails with ErrNotRead until a Get
// has succeeded.
//
// A record without a HolderIdentity releases the lease. That is sent only on top
// of a version of this lock's own, and not after failed renewals; a lost answer is
// read back and the release repeated until ctx ends. From just before the first
// attempt is sent the lock does not lead any more, whatever comes of it: Check fails.
func (l *Lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.store(ctx, &r, false)
}

func (l *Lock) store(ctx context.Context, r *resourcelock.LeaderElectionRecord, creating bool) error {
	if err := l.take(ctx); err != nil {
		return err
	}
	defer l.give()
	if r.HolderIdentity == "" {
		return l.release(ctx, r, creating)
	}
	return l.write(ctx, r, creating)
}

// release repeats what client-go tries only once: the write, and the read that
// tells what became of it.
func (l *Lock) release(ctx context.Context, r *resourcelock.LeaderElectionRecord, creating bool) error {
	for {
		err := l.write(ctx, r, creating)
		if err == nil || !unknown(err) {
			return err
		}
		for known := false; !known; {
			if !l.opts.Clock.SleepFor(ctx, l.opts.RetryPeriod/4) || ctx.Err() != nil {
				return err
			}
			_, _, again := l.read(ctx, l.opts.callTimeout())
			if known = again == nil; !known && !passing(again) {
				return err
			}
		}
	}
}

// unknown tells whether what err is for may have been stored.
func unknown(err error) bool {
	var lost core.FailedAcquisitionErr
	return !errors.As(err, &lost) && apierrors.ReasonForError(err) == meta.StatusReasonUnknown && !errors.Is(err, core.ErrBroken) &&
		!errors.Is(err, ErrNotRead) && !errors.Is(err, ErrRefused) && !errors.Is(err, core.ErrInvalidConfig)
}

var errReleased = errors.New("already released")

func (l *Lock) write(ctx context.Context, r *resourcelock.LeaderElectionRecord, creating bool) error {
	if err := l.allowed(r, creating); err == errReleased {
		return nil
	} else if err != nil {
		return err
	}
	l.pace(ctx)
	e, sent, err := l.compose(r)
	if err != nil {
		return err
	}
	token, err := bounded(ctx, l, l.opts.callTimeout(), func(ctx context.Context) (entry.LeaderToken, error) {
		return l.decider.WriteEntry(ctx, e)
	})
	if err == nil && token == nil {
		err = errors.New("the decider answered a write with neither a token nor an error")
	}
	got := l.time.Look()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrote, l.haveWritten = got.AtMost, true
	if err != nil {
		if r.HolderIdentity != "" {
			l.fail(ctx)
		}
		return l.failed(creating, err)
	}
	l.stored(ptrTo(e.Clone()), token, sent, got)
	l.failing = false
	if r.HolderIdentity != "" {
		l.reign.token, l.renewed = e.FencingToken, sent.AtMost
	}
	return nil
}

func ptrTo(e entry.RaceEntry) *entry.RaceEntry { return &e }

// allowed tells whether r may be sent on top of what is known.
func (l *Lock) allowed(r *resourcelock.LeaderElectionRecord, creating bool) error {
	now := l.time.Look()
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.base
	switch {
	case b == nil:
		return fmt.Errorf("%w (%s)", ErrNotRead, l.opts.Name)
	case creating && !b.Absent():
		return apierrors.NewAlreadyExists(lease, l.opts.Name)
	case !creating && b.Absent():
		return l.notFound()
	case r.HolderIdentity == "":
		return l.mayRelease(b)
	case r.HolderIdentity != l.identity:
		return fmt.Errorf("%w: the record is %q's, and this lock is %q's", ErrRefused, r.HolderIdentity, l.identity)
	case time.Duration(r.LeaseDurationSeconds)*time.Second != l.opts.LeaseDuration:
		return fmt.Errorf("k8slock: the elector's LeaseDuration is %ds, and the lock was made for %v: give Options the elector's LeaseDuration, RenewDeadline and RetryPeriod: %w",
			r.LeaseDurationSeconds, l.opts.LeaseDuration, core.ErrInvalidConfig)
	case b.Vacant() || l.own || l.reclaims(b):
		return nil
	}
	// client-go has waited, by the monotonic clock of this host. What counts is
	// both clocks, for every lease and whatever client-go has seen in it.
	if wait := l.since + withMargin(b.TermLength) - now.AtLeast; wait > 0 {
		return fmt.Errorf("%w: %q may lead for another %v", ErrRefused, b.LeaderID, wait.Round(time.Millisecond))
	}
	return nil
}

// mayRelease: client-go releases whatever it finds, as long as it believes that
// it leads.
func (l *Lock) mayRelease(b *entry.RaceEntry) error {
	switch {
	case b.Vacant():
		return errReleased
	case !l.own:
		return fmt.Errorf("%w to release what %q holds", ErrRefused, b.LeaderID)
	case l.failing:
		return fmt.Errorf("%w to release the lease after failed renewals: client-go has not told the work to stop yet; the lease will run out", ErrRefused)
	}
	return nil
}

// pace leaves the time between two writes that the store asks for: client-go
// renews right after the win, and releases right after a renewal.
func (l *Lock) pace(ctx context.Context) {
	w, ok := l.decider.(core.WriteLimiter)
	l.mu.Lock()
	since := l.time.Look().AtMost - l.wrote
	first := !l.haveWritten
	l.mu.Unlock()
	if !ok || first {
		return
	}
	if wait := w.MinWriteInterval() - since; wait > 0 {
		l.opts.Clock.SleepFor(ctx, wait)
	}
}

// compose makes the entry that replaces base, as late as possible: the term counts
// from here.
func (l *Lock) compose(r *resourcelock.LeaderElectionRecord) (*entry.RaceEntry, core.Reading, error) {
	params, err := keep(r, l.opts.ConnectionParams)
	if err != nil {
		return nil, core.Reading{}, err
	}
	now := l.time.Look()
	l.mu.Lock()
	defer l.mu.Unlock()
	releases := r.HolderIdentity == ""
	term := time.Duration(r.LeaseDurationSeconds) * time.Second
	e := &entry.RaceEntry{
		LeaderID: r.HolderIdentity, HostPort: l.opts.HostPort, ConnectionParams: params,
		TermLength: term, SentBy: l.sentBy(now), TermExpiry: now.Wall.Add(term),
		ElectionNumber: l.number + 1, FencingToken: l.base.FencingToken,
		Nonce: rand.Text(), Checkpoint: l.base.Checkpoint, Token: l.base.Token,
	}
	for _, from := range []time.Time{r.RenewTime.Time, e.SentBy} {
		if until := from.Add(term); !from.IsZero() && until.After(e.TermExpiry) {
			e.TermExpiry = until
		}
	}
	switch {
	case releases:
		e.HostPort = nil
	case l.reign.token == 0 || !l.own:
		e.FencingToken = l.nextFence()
	}
	if err := e.Validate(); err != nil {
		return nil, core.Reading{}, fmt.Errorf("k8slock: %s: the record makes no entry: %w: %w", l.opts.Name, err, core.ErrInvalidConfig)
	}
	if releases {
		// From the moment that this may be stored somebody else may lead, whenever
		// the answer comes and whatever it says.
		l.lose()
	}
	l.sending(attempt{e.Nonce, now.AtMost})
	return e, now, nil
}
