package core_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/faultdecider"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

var (
	fleetSeed  = flag.Uint64("fleet-seed", 0, "run TestCampaignFleet with this seed only")
	fleetSeeds = flag.Int("fleet-seeds", 60, "how many seeds TestCampaignFleet runs")
)

// Up to sixty candidates with clocks that are off, behind networks that lose, delay,
// repeat and keep their requests, crash and come back. In true time, at every
// moment at most one passes Check; tokens rise from reign to reign; every
// version names the one before it; and when the faults have ended somebody leads
// within two terms.
func TestCampaignFleet(t *testing.T) {
	n := uint64(*fleetSeeds)
	if testing.Short() {
		n = 10
	}
	first := uint64(1)
	if *fleetSeed != 0 {
		first, n = *fleetSeed, 1
	}
	reigns := 0
	for seed := first; seed < first+n; seed++ {
		synctest.Test(t, func(t *testing.T) {
			run := newFleetRun(t, seed)
			run.play()
			reigns += len(run.tokens)
		})
		if t.Failed() {
			t.Fatalf("repeat with: go test ./core -run TestCampaignFleet -fleet-seed %d", seed)
		}
	}
	goleak.VerifyNone(t)
	t.Logf("%d reigns in %d runs", reigns, n)
	if *fleetSeed == 0 && reigns < int(n)*4 {
		t.Errorf("%d reigns in %d runs: too few to prove anything", reigns, n)
	}
}

// fleetRun is one run. All that it draws comes from its seed.
type fleetRun struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	store  *ledger
	faults []*faultdecider.Decider
	ctx    context.Context
	done   sync.WaitGroup

	mu      sync.Mutex
	leaders map[*core.Leadership]string
	tokens  []int64
}

const fleetTerm = 10 * time.Second

// size is sixty for every tenth run. A few candidates meet more often.
func (r *fleetRun) size() int {
	if r.seed%10 == 0 {
		return 60
	}
	return 2 + r.random.IntN(12)
}

func newFleetRun(t *testing.T, seed uint64) *fleetRun {
	r := &fleetRun{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), leaders: map[*core.Leadership]string{}}
	inner := memory.NewDecider()
	r.store = &ledger{Decider: inner, t: t}
	if r.random.IntN(3) > 0 { // a store that tells its time, right or wrong
		off := time.Duration(r.random.Int64N(int64(20*time.Second))) - 10*time.Second
		inner.SetClock(skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: off}))
	}
	return r
}

func (r *fleetRun) play() {
	ctx, stop := context.WithCancel(r.t.Context())
	r.ctx = ctx
	for i := range r.size() {
		r.candidate(i)
	}
	time.Sleep(15 * fleetTerm)
	for _, f := range r.faults {
		f.Heal()
	}
	healed := time.Now()
	for r.leading() == "" && time.Since(healed) < 3*fleetTerm {
		time.Sleep(10 * time.Millisecond)
	}
	if took := time.Since(healed); took > 2*fleetTerm {
		r.t.Errorf("nobody led for %v after the faults had ended", took)
	}
	time.Sleep(fleetTerm)
	stop()
	r.done.Wait()
	for _, f := range r.faults {
		f.Close()
	}
	r.wantRising()
}

// candidate starts one process after the other under the same name: each lives
// for a while, crashes, and is followed by the next with the same clock and
// network, but without a memory.
func (r *fleetRun) candidate(i int) {
	// Rates within 2.4 %; walls anywhere, since clock proofs are off.
	skew := &skewclock.Options{
		Offset: time.Duration(r.random.Int64N(int64(48*time.Hour))) - 24*time.Hour,
		Rate:   1 + (r.random.Float64()*2-1)*0.024,
	}
	clock := skewclock.New(clocks.DefaultClock(), skew)
	plan := faultdecider.Plan{Seed: r.random.Uint64(), Faults: []faultdecider.Fault{
		{Op: faultdecider.Any, Kind: faultdecider.Delay, For: time.Duration(i+1) * time.Nanosecond}, // the lane
	}}
	if r.random.IntN(4) > 0 {
		second := func(n int64) time.Duration { return time.Duration(r.random.Int64N(n*1e9) + 1) }
		p := r.random.Float64() * 0.2
		plan.Faults = append(plan.Faults,
			faultdecider.Fault{Op: faultdecider.Any, Kind: faultdecider.Delay, Probability: p, For: second(2)},
			faultdecider.Fault{Op: faultdecider.Write, Kind: faultdecider.Duplicate, Probability: p},
			faultdecider.Fault{Op: faultdecider.Any, Kind: faultdecider.DelayAfter, Probability: p, For: second(4)},
			faultdecider.Fault{Op: faultdecider.Write, Kind: faultdecider.Late, Probability: p, For: second(20)},
			faultdecider.Fault{Op: faultdecider.Write, Kind: faultdecider.Lose, Probability: p},
			faultdecider.Fault{Op: faultdecider.Any, Kind: faultdecider.Fail, Probability: p},
			faultdecider.Fault{Op: faultdecider.Any, Kind: faultdecider.HangAfter, Probability: p / 2},
			faultdecider.Fault{Op: faultdecider.Any, Kind: faultdecider.Hang, Probability: p / 2},
		)
	}
	faulty, err := faultdecider.New(r.store, plan, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.faults = append(r.faults, faulty)
	life := rand.New(rand.NewPCG(r.seed, uint64(i)+1000))
	cfg := core.Config{LeaderID: fmt.Sprintf("c%02d", i), Decider: faulty, Clock: clock, TermLength: fleetTerm,
		PollInterval: 2 * time.Second, NoClockProof: true}
	remembers := life.IntN(2) == 0
	r.done.Go(func() {
		time.Sleep(time.Duration(life.Int64N(int64(5 * time.Second))))
		for r.ctx.Err() == nil {
			cfg.Memory = nil
			if remembers {
				cfg.Memory = new(core.Memory)
			}
			r.live(life, cfg, clock)
		}
	})
}

// live is one process: it campaigns and leads again and again until it crashes,
// which it does without a word.
func (r *fleetRun) live(life *rand.Rand, cfg core.Config, clock *skewclock.Clock) {
	for !r.crash(life) && r.ctx.Err() == nil {
		cfg.ManualRenew = life.IntN(3) == 0
		ctx, cancel := context.WithTimeout(r.ctx, time.Duration(life.Int64N(int64(8*fleetTerm))+1))
		l, err := cfg.Campaign(ctx)
		if err != nil {
			cancel()
			continue
		}
		r.elected(l, cfg.LeaderID)
		for range 1 + life.IntN(8) {
			time.Sleep(time.Duration(life.Int64N(int64(fleetTerm / 2))))
			switch life.IntN(12) {
			case 0:
				r.freeze(life, clock)
			case 1:
				clock.Step(time.Duration(life.Int64N(int64(2*fleetTerm))) - fleetTerm)
			case 2:
				_ = l.SaveCheckpoint(ctx, []byte(cfg.LeaderID))
			default:
				_ = l.Renew(ctx)
			}
			// Two things that go wrong with a host's clocks between two looks at
			// them, one with each, may hide each other. Looks are at most an eighth
			// of the term apart; here there is one in between for certain.
			_ = l.Check()
		}
		switch life.IntN(3) {
		case 0:
			_ = l.Resign(r.ctx)
		case 1:
			<-l.Context().Done() // it crashes: what it does not say, the term does
		}
		cancel()
	}
}

func (r *fleetRun) crash(life *rand.Rand) bool { return life.IntN(8) == 0 }

// freeze stops one clock of the host, never both.
func (r *fleetRun) freeze(life *rand.Rand, clock *skewclock.Clock) {
	long := time.Duration(life.Int64N(int64(2 * fleetTerm)))
	catchUp := life.IntN(2) == 0
	if life.IntN(2) == 0 {
		clock.FreezeMono()
		time.Sleep(long)
		clock.ThawMono(catchUp)
		return
	}
	clock.FreezeWall()
	time.Sleep(long)
	clock.ThawWall(catchUp)
}

func (r *fleetRun) elected(l *core.Leadership, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaders[l] = name
	r.tokens = append(r.tokens, l.FencingToken())
	r.look()
}

// leading returns who passes Check now.
func (r *fleetRun) leading() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look()
}

// look fails the run if two pass Check now. What has ended stays so, and so it
// is enough to look whenever a reign begins: two that overlap do so then.
func (r *fleetRun) look() string {
	var who []string
	for l, name := range r.leaders {
		if l.Check() != nil {
			delete(r.leaders, l)
			continue
		}
		who = append(who, fmt.Sprintf("%s (token %d, by %v)", name, l.FencingToken(), l.Proof()))
		if l.Context().Err() != nil {
			r.t.Errorf("seed %d: %s passes Check with an ended context", r.seed, name)
		}
	}
	switch len(who) {
	case 0:
		return ""
	case 1:
		return who[0]
	}
	slices.Sort(who)
	r.t.Errorf("seed %d: two leaders at %v: %q", r.seed, time.Now(), who)
	return who[0]
}

// wantRising: the order in which reigns were told of is not that of their
// wins, so only their being different is asked here; ledger asks the order.
func (r *fleetRun) wantRising() {
	slices.Sort(r.tokens)
	for i := range r.tokens[:max(len(r.tokens)-1, 0)] {
		if r.tokens[i] == r.tokens[i+1] {
			r.t.Errorf("seed %d: two reigns have the fencing token %d", r.seed, r.tokens[i])
		}
	}
}

// ledger is the store, and checks every version that it takes: one chain, and
// tokens that rise from reign to reign.
type ledger struct {
	*memory.Decider
	t *testing.T

	mu   sync.Mutex
	last *entry.RaceEntry // the version last taken
}

// WriteEntry stores and checks.
func (s *ledger) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tok, err := s.Decider.WriteEntry(ctx, e)
	if err != nil {
		return tok, err
	}
	now, last := e.Clone(), s.last
	s.last = &now
	if last == nil {
		if now.ElectionNumber != 0 {
			s.t.Errorf("the first version has number %d", now.ElectionNumber)
		}
		return tok, nil
	}
	if now.ElectionNumber != last.ElectionNumber+1 {
		s.t.Errorf("version %d follows version %d", now.ElectionNumber, last.ElectionNumber)
	}
	sameReign := now.FencingToken == last.FencingToken && !last.Vacant() && (now.LeaderID == last.LeaderID || now.Vacant())
	newReign := now.FencingToken == last.FencingToken+1 && !now.Vacant()
	if !sameReign && !newReign {
		s.t.Errorf("leader %q, token %d follows leader %q, token %d", now.LeaderID, now.FencingToken, last.LeaderID, last.FencingToken)
	}
	return tok, nil
}
