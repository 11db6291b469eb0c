package k8slock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/faultdecider"
)

// door is a decider whose faults can be changed.
type door struct {
	mu  sync.Mutex
	now *faultdecider.Decider
	all []*faultdecider.Decider
}

func (w *world) faults(d core.RaceDecider, plan string) *door {
	w.t.Helper()
	p, err := faultdecider.Parse(plan)
	if err != nil {
		w.t.Fatal(err)
	}
	f, err := faultdecider.New(d, p, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &door{now: f, all: []*faultdecider.Decider{f}}
}

func (d *door) set(other *door) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = other.now
	d.all = append(d.all, other.all...)
}

func (d *door) decider() *faultdecider.Decider {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *door) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	return d.decider().WriteEntry(ctx, e)
}

func (d *door) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	return d.decider().ReadCurrent(ctx)
}

func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.all {
		f.Close()
	}
}

// randomPlan is what a bad network does.
func randomPlan(r *rand.Rand) string {
	plan := fmt.Sprintf("seed=%d", r.Uint64N(1000))
	for _, fault := range []string{"write lose", "any fail", "any hang", "any hang-after", "write duplicate"} {
		plan += fmt.Sprintf("; %s p=%.2f", fault, r.Float64()*0.15)
	}
	for _, fault := range []string{"write late", "any delay", "any delay-after"} {
		plan += fmt.Sprintf("; %s p=%.2f for=%dms", fault, r.Float64()*0.15, 1+r.IntN(4000))
	}
	return plan
}

// play runs a fleet for a while: electors, and core's candidates, that crash, release
// and start again behind faulty doors. At its end the faults do, and somebody leads.
func (w *world) play(seed uint64, electors, candidates int) {
	if seed%3 == 2 { // a store that tells no time: core then trusts wall clocks
		w.store.SetClock(nil)
	}
	r := rand.New(rand.NewPCG(seed, 6))
	end := make(chan struct{})
	var hosts sync.WaitGroup
	var doors []*door
	for i := range electors + candidates {
		plan := randomPlan(r)
		d := w.faults(w.store.Handle(), plan)
		doors = append(doors, d)
		rr := rand.New(rand.NewPCG(seed, uint64(i)))
		hosts.Go(func() {
			for life := 0; ; life++ {
				name := fmt.Sprintf("%c%d", 'a'+i, life)
				stop := w.host(d, name, i < electors, rr.IntN(2) == 0)
				select {
				case <-end:
					stop()
					return
				case <-time.After(time.Duration(rr.Int64N(int64(5 * time.Minute)))):
					stop()
				}
			}
		})
	}
	time.Sleep(30 * time.Minute)
	before := len(w.past())
	for _, d := range doors {
		d.set(w.faults(w.store.Handle(), ""))
	}
	time.Sleep(10 * time.Minute)
	if len(w.past()) <= before && len(w.leaders()) == 0 {
		w.t.Errorf("seed %d: nobody leads after the faults", seed)
	}
	close(end)
	hosts.Wait()
	for _, d := range doors {
		d.close()
	}
	w.t.Logf("seed %d: %d reigns", seed, len(w.past()))
}

// host starts one process, and returns what ends it.
func (w *world) host(d core.RaceDecider, name string, clientGo, release bool) func() {
	if clientGo {
		return w.run(w.lock(d, name, nil), release).stop
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	cfg := core.Config{LeaderID: name, Decider: d, TermLength: leaseTime}
	go func() {
		defer close(done)
		_ = cfg.RunAsLeader(ctx, func(ctx context.Context, l *core.Leadership) error {
			w.works(ctx, name, l.FencingToken())
			return nil
		})
	}()
	return func() { cancel(); <-done }
}

func TestAFleetUnderFaults(t *testing.T) {
	for seed := range uint64(15) {
		bubble(t, func(t *testing.T, w *world) { w.play(seed, 3, 0) })
	}
}

// Electors of client-go and candidates of core's in one election.
func TestAMixedFleetUnderFaults(t *testing.T) {
	for seed := range uint64(15) {
		bubble(t, func(t *testing.T, w *world) { w.play(seed, 2, 2) })
	}
}

// Each kind follows the other, after a crash and after a resignation.
func TestCoreAndClientGoFollowEachOther(t *testing.T) {
	for _, release := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			stop := w.host(w.store.Handle(), "g0", true, release)
			w.leader(0)
			for i := 1; i < 6; i++ {
				next := w.host(w.store.Handle(), fmt.Sprintf("%c%d", "cg"[(i+1)%2], i), i%2 == 0, release)
				time.Sleep(time.Minute)
				if got := w.past(); len(got) != i {
					t.Fatalf("%v: want %d", got, i)
				}
				stop()
				stop = next
				if r := w.leader(i); r.who != fmt.Sprintf("%c%d", "cg"[(i+1)%2], i) {
					t.Errorf("%v leads, want number %d", r, i)
				}
			}
			stop()
		})
	}
}
