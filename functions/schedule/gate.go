package schedule

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// gate is the decider that a trigger campaigns with. It looks at every entry
// that is read on the way to a win: if its checkpoint says that the slot must
// not run, the read is refused, and the campaign ends after this one request.
// Otherwise the slot is free to be taken, and with Skip the reader is shown a
// checkpoint in which it is taken already: a candidate copies the checkpoint
// into the entry that it would win with, so that the win itself takes the slot.
type gate struct {
	core.RaceDecider
	policy   Policy
	waits    bool // for who is at work, as long as WaitAtMost says
	maxAhead time.Duration
	now      func() time.Time // the host's clock, where the store tells no time
	run      string

	mu      sync.Mutex
	slot    Slot
	fixed   bool
	early   time.Duration // Every's own slots may be ahead by so much
	last    mark
	refusal *refusal
	asIs    bool // what was read last is to be shown as it is
	open    bool // elected: what is read from now on is the reign's own affair
}

// refusal ends a campaign. To core the store is broken for this campaign:
// asking it again cannot help.
type refusal struct {
	outcome Outcome
	err     error
}

// refusalText begins what a refusal says that is no error to its caller.
const refusalText = "schedule: not to be run: the slot is "

func (r *refusal) Error() string {
	if r.err != nil {
		return r.err.Error()
	}
	return refusalText + r.outcome.String()
}

func (r *refusal) Unwrap() error { return r.err }

func (*refusal) Is(target error) bool { return target == core.ErrBroken }

func (g *gate) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	e, err := g.RaceDecider.ReadCurrent(ctx)
	if err != nil || e == nil {
		return e, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open {
		return e, nil
	}
	if g.refusal = g.judge(e); g.refusal != nil {
		return nil, g.refusal
	}
	if g.asIs {
		return e, nil
	}
	begun, err := g.last.with(g.slot, stateBegun, g.run).encode()
	if err != nil { // better now than after the work
		g.refusal = &refusal{err: err}
		return nil, g.refusal
	}
	if g.policy == Retry || e.Absent() {
		return e, nil
	}
	taken := *e
	taken.Checkpoint = begun
	return &taken, nil
}

// WriteEntry frees a slot that the win had taken when the campaign leaves that
// win behind, because ctx ended before its answer came: the work never began.
func (g *gate) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	g.mu.Lock()
	leaving := !g.open && g.policy == Skip && e.Vacant()
	before, err := g.last.encode()
	g.mu.Unlock()
	if leaving && err == nil {
		freed := *e
		freed.Checkpoint = before
		e = &freed
	}
	return g.RaceDecider.WriteEntry(ctx, e)
}

// MinWriteInterval is the store's, or 0 when it has none.
func (g *gate) MinWriteInterval() time.Duration {
	if l, ok := g.RaceDecider.(core.WriteLimiter); ok {
		return l.MinWriteInterval()
	}
	return 0
}

// judge returns why the slot must not be run now, or nil. g.mu is held.
func (g *gate) judge(e *entry.RaceEntry) *refusal {
	date := storeDate(e.Token)
	if err := g.fix(date); err != nil {
		return &refusal{err: err}
	}
	last, err := readMark(e.Checkpoint)
	if err != nil {
		return &refusal{err: err}
	}
	if g.asIs = last.Run == g.run && last.State == stateBegun; g.asIs {
		return nil // our own win, whose answer was lost
	}
	g.last = last
	outcome := decide(last, g.slot, g.policy)
	if g.asIs = outcome == Begun && g.waits && !e.Vacant(); g.asIs {
		return nil // somebody is at it, or was killed: wait for the end of it
	}
	if outcome != Unknown {
		return &refusal{outcome: outcome}
	}
	if err := g.future(date); err != nil {
		return &refusal{err: err}
	}
	return nil
}

// future refuses a slot that would make those before it stale for ever. g.mu is held.
func (g *gate) future(date time.Time) error {
	clock := "the store's clock"
	if date.IsZero() {
		clock, date = "this host's clock (the store tells no time)", g.now()
	}
	ahead := g.slot.at.Sub(date)
	if g.slot.name != "" || ahead <= max(g.maxAhead, g.early) {
		return nil
	}
	return fmt.Errorf("%w: %v is %v ahead of %s, more than %v: a run of Cloud Scheduler that was started by hand bears the time of the next one; for such a run the slot is the time now",
		ErrFutureSlot, g.slot, ahead.Round(time.Second), clock, g.maxAhead)
}

// fix settles which slot this trigger is for, at the first answer: it stays
// that slot however long the campaign takes. g.mu is held.
func (g *gate) fix(date time.Time) error {
	if g.fixed {
		return nil
	}
	if g.slot.every != 0 && date.IsZero() {
		if !g.slot.opts.HostClock {
			return fmt.Errorf("%w: use a slot that the trigger names (a program may set EveryOptions.HostClock)", ErrNoDate)
		}
		date = g.now()
	}
	g.slot, g.fixed, g.early = g.slot.fix(date), true, g.slot.opts.Early
	return nil
}

// known returns what the gate has learned.
func (g *gate) known() (slot Slot, last mark, refused *refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.slot, g.last, g.refusal
}

// lift ends the gate's work.
func (g *gate) lift() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
}

func storeDate(t entry.LeaderToken) time.Time {
	if d, ok := t.(core.DatedToken); ok {
		return d.StoreDate()
	}
	return time.Time{}
}
