package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// Resign ends the reign for good and tells the store, so that the next leader
// need not wait for the term to end. Call it after the work has stopped.
//
// nil means that nothing of this reign is left in the store: the resignation
// was confirmed, now or before, or somebody else's entry has replaced it. An
// unknown answer is tried again until the term would have ended, or ctx ends;
// then the error Is ErrNotResigned, and Resign may be called again. A ctx that
// has ended already does not keep Resign from its work: its values are used,
// its end is not. Nor does one that ends with this reign: of Context and of what
// Bind returned the deadline counts, and the context that was bound.
func (l *Leadership) Resign(ctx context.Context) error { return l.resign(ctx, nil) }

// ResignWith is Resign whose write also stores a checkpoint for the next
// leader, in place of any that was saved before (nil: none). One that is too
// large is ErrInvalidConfig, and then the reign goes on. If the reign was lost before, the checkpoint is not stored, and the
// error Is ErrLeadershipLost.
func (l *Leadership) ResignWith(ctx context.Context, checkpoint []byte) error {
	if err := checkpointFits(checkpoint); err != nil {
		return err
	}
	b := bytes.Clone(checkpoint)
	return l.resign(ctx, &b)
}

// giveUp is Resign as Acquire and RunAsLeader call it: whatever became of ctx,
// and for ResignWithin at most.
func (l *Leadership) giveUp(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if l.c.ResignWithin > 0 {
		bounded, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		timer := l.c.Clock.AfterFunc(l.c.ResignWithin, func() { cancel(&noAnswerError{l.c.ResignWithin}) })
		defer timer.Stop()
		ctx = bounded
	}
	return l.Resign(ctx)
}

func (l *Leadership) resign(ctx context.Context, checkpoint *[]byte) error {
	ctx, release := l.outliving(ctx)
	defer release()
	l.end(ErrResigned)
	l.pulse.wait() // a renewal under way returns at once: the reign has ended
	if err := l.lock(ctx, nil); err != nil {
		return fmt.Errorf("%w: another write is under way: %w", ErrNotResigned, err)
	}
	defer l.unlock()
	err := l.vacate(ctx, checkpoint)
	if errors.Is(err, ErrNotResigned) {
		l.c.hooks.tell(l.c.sample(), Event{Kind: EventNotResigned, Err: err})
	}
	l.awaitHooks(ctx)
	return err
}

// outliving returns the context for what is sent after the end of the reign. One
// that has ended already does not count; one that ends with the reign (Context,
// Bind, or below them) would cut the very request that tells of it, so only its
// deadline counts, and the context that was bound.
func (l *Leadership) outliving(ctx context.Context) (context.Context, context.CancelFunc) {
	after := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		return after, func() {}
	}
	if of, _ := FromContext(ctx); of != l {
		return ctx, func() {}
	}
	after, cancel := context.WithCancelCause(after)
	release := func() { cancel(context.Canceled) }
	if outer, ok := ctx.Value(boundKey{}).(context.Context); ok {
		stop := context.AfterFunc(outer, func() { cancel(context.Cause(outer)) })
		release = func() { stop(); cancel(context.Canceled) }
	}
	deadline, ok := ctx.Deadline()
	left := deadline.Sub(l.c.Clock.Now())
	if !ok || left <= 0 { // passed, and ctx has not ended: it goes by another clock than ours
		return after, release
	}
	timed, stopTimer := l.c.Clock.ContextWithTimeout(after, left)
	return timed, func() { stopTimer(); release() }
}

// vacate writes the entry that ends the reign in the store. The lock is held.
func (l *Leadership) vacate(ctx context.Context, checkpoint *[]byte) error {
	for n := 0; ; n++ {
		l.mu.Lock()
		now := l.c.sample()
		lost, resigned, left := l.reign.lost, l.reign.resigned, l.reign.left(now)
		saved := checkpoint == nil || bytes.Equal(*checkpoint, l.reign.current.Checkpoint)
		l.mu.Unlock()
		switch {
		case resigned && !saved:
			return fmt.Errorf("%w before, with another checkpoint: this one was not stored", ErrResigned)
		case resigned:
			return nil
		case lost && checkpoint != nil:
			return fmt.Errorf("%w: the checkpoint was not stored", ErrLeadershipLost)
		case lost:
			return nil
		}
		if left <= 0 {
			left = min(l.c.request(), maxLeave) // one attempt after the end: it may still help the next leader
		}
		held := l.heldFor(now)
		term := held
		if held == 0 {
			term = l.c.TermLength
		}
		_, stored, err := l.send(ctx, nil, OpResign, now, left, term, func(e *entry.RaceEntry) { endEntry(e, held > 0, checkpoint) })
		l.mu.Lock()
		now = l.c.sample()
		settled := l.reign.resigned || l.reign.lost
		late := now.elapsed >= l.reign.end
		l.mu.Unlock()
		switch {
		case settled, stored != "":
			continue // done, or a renewal of ours turned out to be what is stored: end that
		case errors.Is(err, ErrBroken), late, ctx.Err() != nil:
			return fmt.Errorf("%w, the next leader has to wait for the end of the term: %w", ErrNotResigned, err)
		}
		left = l.reignLeft(now)
		if !pause(ctx, l.c.Clock, min(l.c.retryWithin(n, left), left)) {
			return fmt.Errorf("%w, the next leader has to wait for the end of the term: %w", ErrNotResigned, err)
		}
	}
}

func (l *Leadership) reignLeft(now instant) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reign.left(now)
}

// heldFor is how much of MinHold is left, by a clock that may be a little fast.
func (l *Leadership) heldFor(now instant) time.Duration {
	if l.c.MinHold == 0 {
		return 0
	}
	since := now.sure - l.won
	return max(l.c.MinHold-since*20/21, 0)
}

// endEntry turns the current entry into the one that ends the reign: vacant,
// or held by its old leader for what is left of MinHold.
func endEntry(e *entry.RaceEntry, held bool, checkpoint *[]byte) {
	if checkpoint != nil {
		e.Checkpoint = *checkpoint
	}
	if held {
		e.Held = true
		return
	}
	e.LeaderID, e.HostPort, e.ConnectionParams = "", nil, nil
}

// awaitHooks lets the callbacks hear the end before Resign returns; one that
// hangs, or that itself called Resign, is waited for a second at most.
func (l *Leadership) awaitHooks(ctx context.Context) {
	giveUp, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := l.c.Clock.AfterFunc(min(l.c.request(), time.Second), cancel)
	defer timer.Stop()
	l.c.hooks.drain(giveUp.Done())
}
