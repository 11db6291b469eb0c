package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// plan is how pairs of writers are raced: in several lanes at a time, each on its
// own record, one after the other: a creation, then some overwrites.
type plan struct {
	lanes      int
	records    int  // at most, altogether
	overwrites int  // on each
	brief      bool // stop as soon as there is a proof, and do not use all of RaceTime
	// What is enough for a proof. More rounds are run where they cost little.
	leastCreations, leastOverwrites int
}

func (r *run) plan(deletable bool) plan {
	switch {
	case r.interval > 0 && deletable: // a round takes as long as the store wants
		return plan{lanes: 10, records: 20, overwrites: 2, brief: true, leastCreations: 10, leastOverwrites: 20}
	case r.interval > 0:
		return plan{lanes: 3, records: 6, overwrites: 4, brief: true, leastCreations: 3, leastOverwrites: 12}
	case !deletable: // every record stays: race on as few as possible
		return plan{lanes: 1, records: 6, overwrites: 8, brief: true, leastCreations: 3, leastOverwrites: 24}
	}
	return plan{lanes: 4, records: 40, overwrites: 4, leastCreations: 8, leastOverwrites: 32}
}

// racing is the state that the lanes share.
type racing struct {
	*run
	plan
	stop  context.CancelFunc // a fault was found, no need to go on
	start time.Time

	mu                    sync.Mutex
	records               int // that were begun
	creations, overwrites int // rounds with a clear outcome
	last                  error
}

// races races pairs of writers. Its error is about the target.
func (r *run) races(ctx context.Context, deletable bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &racing{run: r, plan: r.plan(deletable), stop: cancel, start: r.opts.Clock.Now()}
	errs := make([]error, g.lanes)
	var wg sync.WaitGroup
	for i := range g.lanes {
		wg.Go(func() { errs[i] = g.lane(ctx) })
	}
	wg.Wait()
	g.conclude()
	return errors.Join(errs...)
}

// next counts a record in, or says that there have been enough.
func (g *racing) next(ctx context.Context) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	spent := g.opts.Clock.Now().Sub(g.start)
	proved := g.creations >= g.leastCreations && g.plan.leastOverwrites <= g.overwrites
	switch {
	case ctx.Err() != nil, g.records >= g.plan.records, spent > g.opts.RaceTime+2*g.opts.Patience:
		return false
	case proved && (g.brief || spent >= g.opts.RaceTime):
		return false
	}
	g.records++
	return true
}

// lane races on one record after the other.
func (g *racing) lane(ctx context.Context) error {
	for g.next(ctx) {
		s, err := g.open()
		if err != nil {
			return err
		}
		g.record(ctx, s)
		g.clean(ctx, s)
	}
	return nil
}

// record races on one record until there were enough clear rounds or the
// store's answers stay unclear.
func (g *racing) record(ctx context.Context, s *scratch) {
	base, err := s.read(ctx, s.look)
	if err == nil && base.nonce != "" {
		err = fmt.Errorf("%s is new, and a read shows %s", s.Name, base)
	}
	if err != nil {
		g.fault(ctx, CheckKept, err)
		return
	}
	open := map[string]bool{} // nonces of writes whose outcome nobody knows
	clear := 0
	for p := s.patience(); clear <= g.plan.overwrites && ctx.Err() == nil; {
		check := CheckRacingWrites
		if base.nonce == "" {
			check = CheckRacingCreations
		}
		round := s.race(ctx, base)
		now, err := s.read(ctx, s.look)
		if err != nil {
			g.fault(ctx, CheckKept, err)
			return
		}
		fault, err := round.judge(base, now, open, g.interval > 0)
		switch {
		case err == nil:
			g.won(check)
			clear++
			p = s.patience()
		case fault == noFault:
			g.note(err)
			if !p.pause(ctx) {
				return
			}
		case fault == lostWrite:
			g.fault(ctx, CheckKept, err)
			return
		default:
			g.fault(ctx, check, err)
			return
		}
		base = now
		if base.nonce != "" && g.wantsCreations() {
			return
		}
	}
}

// wantsCreations reports whether creations are all that is missing for a proof: a
// record can be created only once.
func (g *racing) wantsCreations() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.creations < g.leastCreations && g.overwrites >= g.leastOverwrites
}

// fault notes what is wrong and ends all lanes, unless nothing is proved by it.
func (g *racing) fault(ctx context.Context, check string, err error) {
	var silence *unclearError
	if errors.As(err, &silence) || ctx.Err() != nil {
		g.note(err)
		return
	}
	g.list.fail(check, err)
	g.stop()
}

func (g *racing) won(check string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if check == CheckRacingCreations {
		g.creations++
	} else {
		g.overwrites++
	}
}

func (g *racing) note(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = err
}

// conclude says whether the clear rounds are enough. Checks that have failed stay so.
func (g *racing) conclude() {
	if g.list.failed() {
		return
	}
	enough := func(check string, rounds, least int) {
		if rounds >= least {
			g.list.pass(check, "%d rounds", rounds)
			return
		}
		last := g.last
		if last == nil {
			last = errTimeout
		}
		g.list.fail(check, &unclearError{fmt.Errorf("%d clear rounds, and %d are needed: %w", rounds, least, last)})
	}
	enough(CheckRacingCreations, g.creations, g.leastCreations)
	enough(CheckRacingWrites, g.overwrites, g.leastOverwrites)
	enough(CheckKept, g.creations+g.overwrites, g.leastCreations+g.leastOverwrites)
}

// race lets two handles write over base at the same instant.
func (s *scratch) race(ctx context.Context, base version) (r round) {
	s.pace(ctx)
	ready := make(chan struct{})
	var wg sync.WaitGroup
	for i, d := range []core.RaceDecider{s.a, s.b} {
		e := scratchEntry(base)
		r[i].nonce = e.Nonce
		wg.Go(func() {
			<-ready
			r[i].outcome, _, r[i].err = s.write(ctx, d, e)
		})
	}
	close(ready)
	wg.Wait()
	s.last = s.opts.Clock.Now()
	return r
}
