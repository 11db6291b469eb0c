package probe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// version is what was seen to be stored.
type version struct {
	token  entry.LeaderToken
	nonce  string // "": nothing is stored
	number entry.ElectionNumber
}

func (v version) String() string {
	if v.nonce == "" {
		return "nothing"
	}
	return fmt.Sprintf("version %d", v.number)
}

// outcome is what an answer to a write means.
type outcome int

const (
	unclear outcome = iota
	stored
	lost
	broken
)

// unclearError says that the store gave no clear answer in time. It proves nothing.
type unclearError struct{ err error }

func (e *unclearError) Error() string { return "no clear answer in time: " + e.err.Error() }
func (e *unclearError) Unwrap() error { return e.err }

// ended is the end of ctx; its cause is text only, for it may be an error that
// means something else here.
func ended(ctx context.Context) error { return fmt.Errorf("%w (%v)", ctx.Err(), context.Cause(ctx)) }

// scratch is a scratch record with its handles. One goroutine at a time uses it.
type scratch struct {
	Record
	*run
	a, b, look core.RaceDecider
	last       time.Time // when a write ended last; zero: nothing was ever sent
}

// request bounds one request.
func (s *scratch) request(ctx context.Context) (context.Context, context.CancelFunc) {
	return s.opts.Clock.ContextWithTimeout(ctx, s.opts.RequestTimeout)
}

// read asks until the answer is clear. An error is an *unclearError, Is
// core.ErrBroken, or Is core.ErrBadEntry.
func (s *scratch) read(ctx context.Context, d core.RaceDecider) (version, error) {
	for p := s.patience(); ; {
		v, err := s.readOnce(ctx, d)
		switch {
		case errors.Is(err, core.ErrBadEntry):
			return v, fmt.Errorf("what was written does not come back as it was: %w", err)
		case err == nil, errors.Is(err, core.ErrBroken):
			return v, err
		}
		s.meter.again()
		if !p.pause(ctx) {
			return version{}, &unclearError{err}
		}
	}
}

func (s *scratch) readOnce(ctx context.Context, d core.RaceDecider) (version, error) {
	reqCtx, cancel := s.request(ctx)
	defer cancel()
	sent := s.opts.Clock.Now()
	e, err := d.ReadCurrent(reqCtx)
	switch {
	case ctx.Err() != nil: // whatever it says, it may be no answer of the store
		return version{}, ended(ctx)
	case err != nil:
		return version{}, err
	case e == nil || e.Token == nil:
		return version{}, fmt.Errorf("the decider returned no entry: %w", core.ErrBadEntry)
	}
	s.meter.answer(sent, e.Token)
	v := version{token: e.Token, nonce: e.Nonce, number: e.ElectionNumber}
	if e.Absent() {
		v.nonce = ""
	}
	return v, nil
}

// scratchEntry is what a probe writes over base. It differs from what it replaces
// in nothing but its number and its nonce, as a renewal does.
func scratchEntry(base version) *entry.RaceEntry {
	return &entry.RaceEntry{
		LeaderID: "probe", TermExpiry: time.Unix(0, 0).UTC(), TermLength: time.Second,
		ElectionNumber: base.number + 1, FencingToken: 1, Nonce: rand.Text(), Token: base.token,
	}
}

// write sends one write and says what its answer means.
func (s *scratch) write(ctx context.Context, d core.RaceDecider, e *entry.RaceEntry) (outcome, version, error) {
	reqCtx, cancel := s.request(ctx)
	defer cancel()
	sent := s.opts.Clock.Now()
	token, err := d.WriteEntry(reqCtx, e)
	var refused core.FailedAcquisitionErr
	switch {
	case ctx.Err() != nil:
		return unclear, version{}, ended(ctx)
	case err == nil && token == nil:
		return broken, version{}, errors.New("the decider returned no token for a write that it calls stored")
	case err == nil:
		s.meter.answer(sent, token)
		return stored, version{token: token, nonce: e.Nonce, number: e.ElectionNumber}, nil
	case errors.As(err, &refused):
		var race *core.LostRaceError
		if errors.As(err, &race) && race.Current != nil {
			s.meter.answer(sent, race.Current.Token)
		}
		return lost, version{}, err
	case errors.Is(err, core.ErrBroken):
		return broken, version{}, err
	}
	s.meter.again()
	return unclear, version{}, err
}

// paced is write, not sooner after the last one than the store wants it.
func (s *scratch) paced(ctx context.Context, d core.RaceDecider, e *entry.RaceEntry) (outcome, version, error) {
	s.pace(ctx)
	defer func() { s.last = s.opts.Clock.Now() }()
	return s.write(ctx, d, e)
}

func (s *scratch) pace(ctx context.Context) {
	if s.last.IsZero() || s.interval == 0 {
		return
	}
	if wait := s.interval - s.opts.Clock.Now().Sub(s.last); wait > 0 {
		s.opts.Clock.SleepFor(ctx, wait)
	}
}

// patience is what is left for answers that stay unclear.
type patience struct {
	run   *run
	until time.Time
	next  time.Duration
}

func (r *run) patience() *patience {
	return &patience{run: r, until: r.opts.Clock.Now().Add(r.opts.Patience), next: max(100*time.Millisecond, r.interval)}
}

// pause waits before the next attempt; false: there must be none.
func (p *patience) pause(ctx context.Context) bool {
	clock := p.run.opts.Clock
	if p.until.Sub(clock.Now()) < p.next {
		return false
	}
	wait := p.next
	p.next = min(2*p.next, max(2*time.Second, p.run.interval))
	return clock.SleepFor(ctx, wait) && ctx.Err() == nil
}
