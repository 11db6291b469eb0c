// Package faultdecider wraps a decider and injects what stores and networks do
// to it: lost answers, delays, writes that land late or twice, requests that
// hang. What goes wrong is a Plan, which prints itself in one line and can be
// read back from it, so that a failing run can be repeated.
//
// The same plan and the same order of requests give the same faults. Requests
// that run at the same time have no order but the scheduler's.
package faultdecider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// ErrInjected is what every error of an injected fault is (errors.Is).
var ErrInjected = errors.New("faultdecider: injected")

// Options are what a Decider can do without.
type Options struct {
	// Clock times the delays; nil: the system's.
	Clock clocks.Clock
}

// Decider is a core.RaceDecider with faults. Close it after use.
type Decider struct {
	inner core.RaceDecider
	clock clocks.Clock
	plan  Plan

	healed  chan struct{} // closed by Heal: no more faults, the stuck come loose
	closing context.Context
	close   context.CancelFunc

	mu     sync.Mutex
	landed sync.Cond // late has fallen
	late   int       // writes that have not landed yet
	states []state
	counts map[Kind]int
	well   bool
	closed bool
}

var (
	_ core.RaceDecider  = (*Decider)(nil)
	_ core.WriteLimiter = (*Decider)(nil)
)

// state is what one fault of the plan remembers. Each has random numbers of its
// own, so that a fault that is added to a plan does not change the others.
type state struct {
	seen, happened int
	random         *rand.Rand
}

// New wraps inner. A plan that is not valid is an error; nil opts are fine.
func New(inner core.RaceDecider, plan Plan, opts *Options) (*Decider, error) {
	if inner == nil {
		return nil, errors.New("faultdecider: no decider to wrap")
	}
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	d := &Decider{inner: inner, clock: clocks.DefaultClock(), plan: plan, healed: make(chan struct{}), counts: map[Kind]int{}}
	if opts != nil && opts.Clock != nil {
		d.clock = opts.Clock
	}
	d.landed.L = &d.mu
	d.closing, d.close = context.WithCancel(context.Background())
	for i := range plan.Faults {
		d.states = append(d.states, state{random: rand.New(rand.NewPCG(plan.Seed, uint64(i)))})
	}
	return d, nil
}

// String prints the plan.
func (d *Decider) String() string { return d.plan.String() }

// MinWriteInterval is the wrapped decider's, or 0 when it has none.
func (d *Decider) MinWriteInterval() time.Duration {
	if l, ok := d.inner.(core.WriteLimiter); ok {
		return l.MinWriteInterval()
	}
	return 0
}

// Counts returns how often each kind was injected.
func (d *Decider) Counts() map[Kind]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := make(map[Kind]int, len(d.counts))
	for k, n := range d.counts {
		counts[k] = n
	}
	return counts
}

// Heal ends the faults: later requests pass, what is stuck comes loose. Late
// writes still land, and requests that wait for a delay go on waiting.
func (d *Decider) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.well {
		d.well = true
		close(d.healed)
	}
}

// Settle waits until every late write has landed.
func (d *Decider) Settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.late > 0 {
		d.landed.Wait()
	}
}

// Close heals, drops the late writes whose time has not come, and waits for
// those that are on their way. A write that would be late from now on is dropped.
func (d *Decider) Close() {
	d.Heal()
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.close()
	d.Settle()
}

// WriteEntry is the wrapped decider's, with faults.
func (d *Decider) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	return inject(ctx, d, Write, func(ctx context.Context) (entry.LeaderToken, error) {
		return d.inner.WriteEntry(ctx, e)
	}, func(after time.Duration) { d.landLate(ctx, e, after) })
}

// ReadCurrent is the wrapped decider's, with faults.
func (d *Decider) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	return inject(ctx, d, Read, d.inner.ReadCurrent, func(time.Duration) {})
}

// landLate writes e after a while, when its sender has long been told that
// nothing is known, and may have ended.
func (d *Decider) landLate(ctx context.Context, e *entry.RaceEntry, after time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || e == nil {
		return
	}
	sent := e.Clone()
	d.late++
	go func() {
		if d.clock.SleepFor(d.closing, after) {
			_, _ = d.inner.WriteEntry(context.WithoutCancel(ctx), &sent)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.late--
		d.landed.Broadcast()
	}()
}

// draw decides which faults meet the next request of op.
func (d *Decider) draw(op Op) []Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.well {
		return nil
	}
	var met []Fault
	ended := false
	for i, f := range d.plan.Faults {
		if f.Op != op && f.Op != Any && f.Op != "" {
			continue
		}
		// Every fault counts and draws for every request, whether it is needed
		// or not: so which requests it picks does not depend on the others.
		st := &d.states[i]
		st.seen++
		hit := f.Probability == 0 || st.random.Float64() < f.Probability
		if ended || !hit || st.seen <= f.After || f.Times > 0 && st.happened >= f.Times {
			continue
		}
		st.happened++
		d.counts[f.Kind]++
		met = append(met, f)
		ended = f.ends()
	}
	return met
}

// ends tells whether nothing that comes later in the plan can happen to the
// same request.
func (f Fault) ends() bool {
	switch f.Kind {
	case Delay, DelayAfter, Duplicate:
		return false
	default:
		return true
	}
}

// injected is the error of a fault. A context's cause is no answer of a store,
// so it is not wrapped.
func injected(f Fault, err error) error {
	if err == nil {
		return fmt.Errorf("%w: %s", ErrInjected, f)
	}
	return fmt.Errorf("%w: %s: %w", ErrInjected, f, err)
}
