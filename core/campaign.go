package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// campaign is one call's way to a win: look, judge, attempt, wait. What it
// learns is in the Memory; this is what concerns this call alone.
type campaign struct {
	client
	// once: one attempt, no waiting (TryAcquire).
	once bool
	// serves: a win starts OnElected at once (Acquire).
	serves bool
	began  instant
	sched  schedule

	// base is the version that attempts build on; any of them may yet turn out
	// to be stored.
	base     *entry.RaceEntry
	attempts []attempt
	lookout  lookout // while there are any
	proof    Proof   // of the latest attempt
	// unsettled: an attempt has an unknown outcome and was not looked after since.
	unsettled bool
	// notBefore keeps contenders from hammering a store that leaves attempts
	// unanswered; unknowns counts those in a row, failures the failed looks.
	notBefore          time.Duration
	unknowns, failures int
	// lastErr is what the store said to the latest read that taught nothing,
	// tried what it said to the latest attempt, and lost that this was a lost race.
	lastErr, tried error
	lost           bool
	// answered: a read of this campaign has shown what is stored.
	answered bool
}

func newCampaign(s *settings, h *hooks, once bool) *campaign {
	c := &campaign{client: client{settings: s, hooks: h}, once: once}
	c.began = c.sample()
	c.sched = newSchedule(s, c.began)
	return c
}

// run campaigns until it wins. The Leadership that it returns is guarded by
// its pulse.
func (c *campaign) run(ctx context.Context) (*Leadership, error) {
	l := new(leg).begin()
	go c.play(ctx, nil, l)
	return c.supervise(ctx, l)
}

// supervise waits for the campaign that is played in l. Turns are played on a
// goroutine of their own, as many as follow each other without a wait. Whoever
// supervises only waits, with a shallow stack: for that goroutine, and for the
// clock. A request that ignores its context is left behind with its goroutine.
func (c *campaign) supervise(ctx context.Context, l *leg) (*Leadership, error) {
	for {
		last := l.wait()
		switch m := &last.move; m.kind {
		case moveWait:
			c.idle(ctx, m)
		case moveDone:
			if m.err != nil {
				return nil, c.leave(ctx, m.err)
			}
			return m.won, nil
		}
		l = new(leg).begin()
		go c.play(ctx, last, l)
	}
}

// play plays turns: it deals with the answer that the last one brought,
// decides, and makes the request that it decided on. It ends with a turn that
// requests nothing, or whose request was given up.
func (c *campaign) play(ctx context.Context, last *turn, l *leg) {
	deepen()
	for {
		t := &turn{leg: l}
		t.move = c.next(ctx, last)
		if t.move.kind == moveWait || t.move.kind == moveDone {
			l.end(t)
			return
		}
		if !t.request(ctx, c.settings, c.requestLimit()) {
			return
		}
		last = t
	}
}

// next takes in the answer to the last move and decides on the next one. It
// sends nothing and waits for nothing.
func (c *campaign) next(ctx context.Context, last *turn) move {
	lookAgain := true
	if last != nil {
		switch last.move.kind {
		case moveRead:
			if m, ok := c.looked(last); ok {
				return c.unlessEnded(ctx, m)
			}
			lookAgain = false
		case moveWrite:
			l, known, err := c.attempted(ctx, last)
			if l != nil || err != nil {
				return move{kind: moveDone, won: l, err: err}
			}
			lookAgain = !known
		}
	}
	if !lookAgain {
		return c.decide(ctx)
	}
	now := c.sample()
	if last != nil && c.waitLeft(now) <= 0 {
		// No store answers within no time: what is known has to do.
		rec := c.Memory.known()
		return c.unlessEnded(ctx, move{kind: moveDone, err: c.giveUp(&rec, judge(&rec, now, c.rules()))})
	}
	return c.unlessEnded(ctx, move{kind: moveRead, sent: now})
}

// unlessEnded replaces m when ctx has ended.
func (c *campaign) unlessEnded(ctx context.Context, m move) move {
	if ctx.Err() != nil {
		return move{kind: moveDone, err: ctx.Err()}
	}
	return m
}

// looked takes in the answer to a read. Where it taught nothing it returns the
// move that follows.
func (c *campaign) looked(t *turn) (move, bool) {
	_, outcome, err := c.noteRead(t.move.sent, t.entry, t.err)
	switch outcome {
	case OutcomeRead:
		c.failures, c.lastErr, c.unsettled, c.answered = 0, nil, false, true
		return move{}, false
	case OutcomeBadEntry:
		c.failures, c.lastErr, c.unsettled, c.answered = 0, err, false, true
		return move{}, false
	case OutcomeBroken:
		return move{kind: moveDone, err: err}, true
	}
	c.lastErr = c.telling(c.lastErr, err)
	if c.once && (len(c.attempts) == 0 || c.failures == 2) {
		return move{kind: moveDone, err: err}, true
	}
	now := c.sample()
	left := c.waitLeft(now)
	if left <= 0 {
		rec := c.Memory.known()
		return move{kind: moveDone, err: c.giveUp(&rec, judge(&rec, now, c.rules()))}, true
	}
	c.failures++
	return move{kind: moveWait, wait: min(c.sched.afterFailure(c.failures-1), left)}, true
}

// decide judges what is known, and attempts or waits.
func (c *campaign) decide(ctx context.Context) move {
	if l := c.adopt(ctx); l != nil {
		return move{kind: moveDone, won: l}
	}
	if ctx.Err() != nil {
		return move{kind: moveDone, err: ctx.Err()}
	}
	rec := c.Memory.known()
	now := c.sample()
	v := judge(&rec, now, c.rules())
	switch {
	case c.once && rec.sight == sightBad:
		return move{kind: moveDone, err: c.lastErr}
	case c.once && v.proof == ProofNone:
		return move{kind: moveDone, err: v.held(rec.current)}
	case c.once && c.lost:
		return move{kind: moveDone, err: &HeldError{Current: rec.current.Clone(), Reason: "this attempt lost the race to another one"}}
	case c.once && c.tried != nil:
		return move{kind: moveDone, err: c.tried}
	case v.proof != ProofNone && now.mono >= c.notBefore:
		return c.attempt(&rec, v.proof)
	case c.waitLeft(now) <= 0:
		return move{kind: moveDone, err: c.giveUp(&rec, v)}
	case v.proof != ProofNone:
		return move{kind: moveWait, wait: min(c.notBefore-now.mono, c.waitLeft(now))}
	}
	return c.await(&rec, v, now)
}

// requestLimit bounds the next request: a store that hangs must not keep
// anybody waiting for longer than WaitAtMost.
func (c *campaign) requestLimit() time.Duration {
	return max(min(c.request(), c.waitLeft(c.sample())), time.Millisecond)
}

// waitLeft is how much of WaitAtMost is left; never when there is no limit.
func (c *campaign) waitLeft(now instant) time.Duration {
	if c.WaitAtMost == 0 || c.once {
		return never
	}
	return c.WaitAtMost - (now.mono - c.began.mono)
}

// giveUp is the error for a candidate that has waited long enough. The election
// counts as held only if this campaign has seen that it is not free: what the
// Memory has from before, and a store that does not answer or does not take
// the write, are no news of a leader.
func (c *campaign) giveUp(rec *record, v verdict) error {
	said := c.said()
	switch {
	case said == nil:
		return v.held(rec.current)
	case !c.answered:
		return fmt.Errorf("core: the store did not answer within %v: %w", c.WaitAtMost, said)
	case rec.sight == sightBad && !errors.Is(said, ErrBadEntry):
		return fmt.Errorf("%w: %w; the store's last answer: %w", v.held(rec.current), ErrBadEntry, said)
	case v.proof != ProofNone:
		return fmt.Errorf("core: the election is free (%v), but could not be taken within %v: %w", v.proof, c.WaitAtMost, said)
	}
	return c.withAnswer(v.held(rec.current))
}

// telling is which of two errors of the store to tell: the newer one, unless that
// only says that WaitAtMost left the request no time.
func (c *campaign) telling(before, newer error) error {
	var cut *noAnswerError
	if before != nil && errors.As(newer, &cut) && cut.limit < c.request() {
		return before
	}
	return newer
}

// said is what the store last said, if that taught nothing.
func (c *campaign) said() error {
	if c.lastErr == nil && !c.lost {
		return c.tried
	}
	return c.lastErr
}

// withAnswer adds to err what the store last said, if that is why nothing came
// of the campaign.
func (c *campaign) withAnswer(err error) error {
	said := c.said()
	if said == nil || errors.Is(err, said) {
		return err
	}
	return fmt.Errorf("%w; the store's last answer: %w", err, said)
}
