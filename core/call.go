package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// answer is what a request came back with.
type answer[T any] struct {
	value T
	err   error
}

// bounded calls f with arg and waits for its answer: for limit at most, and
// never longer than ctx or until, which may be nil. f runs in a goroutine of its own,
// so that a store call that ignores its context keeps nobody waiting; that
// goroutine ends when the call does.
//
// A call that was given up has an unknown outcome: the error says why. arg is
// apart from f because this is the path of every renewal: an f that captures
// nothing costs nothing.
func bounded[A, T any](ctx, until context.Context, clock clocks.Clock, limit time.Duration, arg A, f func(context.Context, A) (T, error)) (T, error) {
	var none T
	var ended <-chan struct{}
	if until != nil {
		ended = until.Done()
	}
	switch {
	case ctx.Err() != nil:
		return none, givenUp(ctx, nil)
	case until != nil && until.Err() != nil:
		return none, givenUp(until, nil)
	case limit <= 0:
		return none, &noAnswerError{}
	}
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := clock.AfterFunc(limit, func() { cancel(&noAnswerError{limit}) })
	defer timer.Stop()
	answered := make(chan answer[T])
	go func() {
		v, err := f(callCtx, arg)
		select {
		case answered <- answer[T]{v, err}:
		case <-callCtx.Done(): // nobody waits any more
		}
	}()
	select {
	case a := <-answered:
		return a.value, trusted(callCtx, a.err)
	case <-callCtx.Done():
	case <-ended:
		cancel(context.Cause(until))
	}
	select { // an answer that came at the same instant is worth more than none
	case a := <-answered:
		return a.value, trusted(callCtx, a.err)
	default:
		return none, givenUp(callCtx, nil)
	}
}

// trusted returns the error of a call unless its context has ended: then the
// error may be no answer of the store but the context's cause, which is
// whatever somebody cancelled with, an ErrBroken or a LostRaceError of another
// election included. The outcome is unknown.
func trusted(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return givenUp(ctx, err)
}

// givenUp is the error of a call whose context has ended: it Is that context's
// error, and tells the cause and what the call returned in words only.
func givenUp(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if limit, ok := cause.(*noAnswerError); ok {
		return limit
	}
	if err != nil && !errors.Is(err, cause) {
		return fmt.Errorf("core: request given up: %w (%v; the call said: %v)", ctx.Err(), cause, err)
	}
	if cause == ctx.Err() {
		return fmt.Errorf("core: request given up: %w", cause)
	}
	return fmt.Errorf("core: request given up: %w (%v)", ctx.Err(), cause)
}

// writing is what a write call needs.
type writing struct {
	d RaceDecider
	e *entry.RaceEntry
}

func callWrite(ctx context.Context, w writing) (entry.LeaderToken, error) {
	return w.d.WriteEntry(ctx, w.e)
}

func callRead(ctx context.Context, d RaceDecider) (*entry.RaceEntry, error) {
	return d.ReadCurrent(ctx)
}

// noAnswerError: the store was given this long and did not answer.
type noAnswerError struct{ limit time.Duration }

func (e *noAnswerError) Error() string {
	return fmt.Sprintf("core: no answer from the store within %v", e.limit)
}

// Timeout makes it look like other time-outs to net.Error's users.
func (*noAnswerError) Timeout() bool { return true }

// Is makes it a context.DeadlineExceeded, which is what a store call that is
// cut off by its context usually returns.
func (*noAnswerError) Is(target error) bool { return target == context.DeadlineExceeded }

// client sends the requests of one call of this package: bounded, noted in the
// memory, told to the hooks. A request ends with ctx and with until, if that is
// not nil: with the reign that it is for.
type client struct {
	*settings
	hooks *hooks
}

func (c *client) sample() instant { return c.Memory.keeper.sample() }

// read looks at the entry. The record knows what it showed when read returns.
func (c *client) read(ctx, until context.Context, limit time.Duration) (*entry.RaceEntry, Outcome, error) {
	sent := c.sample()
	e, err := bounded(ctx, until, c.Clock, min(limit, c.request()), c.Decider, callRead)
	return c.noteRead(sent, e, err)
}

// noteRead notes the answer to a read that was sent at sent.
func (c *client) noteRead(sent instant, e *entry.RaceEntry, err error) (*entry.RaceEntry, Outcome, error) {
	got := c.sample()
	outcome := readOutcome(e, err)
	if outcome == OutcomeBadEntry && err == nil {
		err = unbelievable(e)
	}
	if e == nil || outcome != OutcomeRead && outcome != OutcomeBadEntry {
		e = noEntry()
	}
	switch outcome {
	case OutcomeRead:
		c.noteEntry(e, sent, got)
	case OutcomeBadEntry:
		c.Memory.sawBad(e, sent, got)
		c.hooks.tell(got, Event{Kind: EventBadEntry, Err: err})
	case OutcomeUnknown:
		if err == nil {
			err = errors.New("core: the decider answered a read with neither an entry nor an error")
		}
	}
	c.noteRequest(OpRead, sent, got, outcome, storeDate(e.Token), err)
	return e, outcome, err
}

// unbelievable says why a decider cannot have read e.
func unbelievable(e *entry.RaceEntry) error {
	if e.Absent() {
		return fmt.Errorf("%w: the decider says that nothing is stored, and that %q leads", ErrBadEntry, e.LeaderID)
	}
	return fmt.Errorf("core: the decider did not validate what it read: %w", validate(e))
}

// write sends e, in one attempt. If it was stored, e has the token of its
// version when write returns; if it lost to an entry that came with the answer,
// the record knows that one.
func (c *client) write(ctx, until context.Context, limit time.Duration, op Op, e *entry.RaceEntry, sent instant) (Outcome, error) {
	tok, err := bounded(ctx, until, c.Clock, min(limit, c.request()), writing{c.Decider, e}, callWrite)
	return c.noteWrite(op, sent, e, tok, err)
}

// noteWrite notes the answer to a write that was sent at sent.
func (c *client) noteWrite(op Op, sent instant, e *entry.RaceEntry, tok entry.LeaderToken, err error) (Outcome, error) {
	got := c.sample()
	outcome := writeOutcome(tok, err)
	if outcome == OutcomeUnknown && err == nil {
		err = errors.New("core: the decider answered a write with neither a token nor an error")
	}
	date := storeDate(tok)
	switch current := lostCurrent(err); {
	case outcome == OutcomeStored:
		e.Token = tok // the decider has returned: e is ours again
		c.noteEntry(e, sent, got)
	case outcome == OutcomeLost && current != nil:
		date = storeDate(current.Token)
		c.noteEntry(current, sent, got)
	}
	c.noteRequest(op, sent, got, outcome, date, err)
	return outcome, err
}

// noteEntry lets everybody know what is stored.
func (c *client) noteEntry(e *entry.RaceEntry, sent, got instant) {
	vanished := c.Memory.saw(e, sent, got)
	if vanished {
		c.hooks.tell(got, Event{Kind: EventVanished})
	}
	c.hooks.sawLeader(got, e)
}

func (c *client) noteRequest(op Op, sent, got instant, outcome Outcome, date time.Time, err error) {
	if !c.hooks.wantsEvents() {
		return
	}
	ev := Event{Kind: EventRequest, Op: op, Outcome: outcome, Latency: got.elapsed - sent.elapsed, Err: err}
	if !date.IsZero() {
		ev.ClockOffset = offset(date, sent, got)
		c.hooks.tell(got, ev)
		c.hooks.sawOffset(got, ev.ClockOffset)
		return
	}
	c.hooks.tell(got, ev)
}
