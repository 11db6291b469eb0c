package schedule_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/faultdecider"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// ledger checks the promises of both policies against what happened.
type ledger struct {
	t      *testing.T
	policy schedule.Policy
	seed   uint64

	mu       sync.Mutex
	begun    map[schedule.Slot]int
	finished map[schedule.Slot]bool // Run returned Ran and no error
	newest   time.Time              // of those
}

func (l *ledger) begins(s schedule.Slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun[s]++
	if l.policy == schedule.Skip && l.begun[s] > 1 {
		l.t.Errorf("seed %d: Skip began the slot %v %d times", l.seed, s, l.begun[s])
	}
	if !s.Time().After(l.newest) {
		l.t.Errorf("seed %d: the slot %v began although %v was done", l.seed, s, l.newest)
	}
}

func (l *ledger) ends(s schedule.Slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.finished[s] {
		l.t.Errorf("seed %d: the slot %v was finished twice", l.seed, s)
	}
	l.finished[s] = true
	if s.Time().After(l.newest) {
		l.newest = s.Time()
	}
}

// Answers are lost, late, doubled; requests fail and hang; clocks are hours off.
// Whatever happens: with Skip no slot begins twice, and no slot begins when one
// not before it was reported as done.
func TestPromisesUnderFaults(t *testing.T) {
	const hosts, slots = 4, 12
	done := map[schedule.Policy]int{}
	for seed := range uint64(8) {
		for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
			l := &ledger{t: t, policy: policy, seed: seed, begun: map[schedule.Slot]int{}, finished: map[schedule.Slot]bool{}}
			synctest.Test(t, func(t *testing.T) { play(t, l, hosts, slots) })
			done[policy] += len(l.finished)
		}
	}
	t.Logf("slots done: %v", done)
	for policy, n := range done {
		if n < 8*slots/2 {
			t.Errorf("policy %d: only %d slots were done", policy, n)
		}
	}
}

func play(t *testing.T, l *ledger, hosts, slots int) {
	w := &world{t: t, store: newStore()}
	var all sync.WaitGroup
	for n := range hosts {
		r := rand.New(rand.NewPCG(l.seed, uint64(n)))
		h := w.host(fmt.Sprint("host-", n), time.Duration(r.IntN(7)-3)*time.Hour)
		h.OnFailure = l.policy
		if r.IntN(3) == 0 {
			h.Election.WaitAtMost = 20 * time.Second
		}
		faults, err := faultdecider.New(h.door.RaceDecider, faultdecider.Plan{Seed: l.seed*100 + uint64(n), Faults: []faultdecider.Fault{
			{Kind: faultdecider.Fail, Probability: 0.05},
			{Kind: faultdecider.Lose, Op: faultdecider.Write, Probability: 0.15},
			{Kind: faultdecider.DelayAfter, Probability: 0.1, For: 2 * time.Second},
			{Kind: faultdecider.Hang, Probability: 0.03},
			{Kind: faultdecider.HangAfter, Op: faultdecider.Write, Probability: 0.05},
			{Kind: faultdecider.Late, Op: faultdecider.Write, Probability: 0.05, For: 8 * time.Second},
			{Kind: faultdecider.Duplicate, Op: faultdecider.Write, Probability: 0.05},
		}}, &faultdecider.Options{Clock: clocks.DefaultClock()})
		if err != nil {
			t.Fatal(err)
		}
		h.Election.Decider = faults
		all.Go(func() {
			defer faults.Close()
			for range slots {
				slot := schedule.At(time.Now().Truncate(time.Minute))
				next := slot.Time().Add(time.Minute)
				for range 2 { // triggers
					time.Sleep(time.Duration(r.IntN(25000)) * time.Millisecond)
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(40)+1)*time.Second)
					res, err := h.Run(ctx, slot, func(ctx context.Context, run *schedule.Run) error {
						l.begins(run.Slot())
						select {
						case <-time.After(time.Duration(r.IntN(20)) * time.Second):
						case <-ctx.Done():
							return context.Cause(ctx)
						}
						if r.IntN(8) == 0 {
							return errWork
						}
						return nil
					})
					cancel()
					if res.Outcome == schedule.Ran && err == nil {
						l.ends(slot)
					}
				}
				time.Sleep(time.Until(next))
			}
		})
	}
	all.Wait()
}
