package gcsdecider

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// A migration in simulated time: candidates of vimeo/leaderelection alone; then
// ours beside them, with VimeoForm; then ours alone, some with VimeoForm and some
// without it any more.
const (
	migrationSkew = 1500 * time.Millisecond
	oursComeAt    = 30 * time.Second
	oldLeaveAt    = 150 * time.Second
	migrationEnd  = 190 * time.Second
)

type migration struct {
	t     *testing.T
	rand  *rand.Rand // of the plan; the goroutine that made it only
	shelf *shelf
	form  peerForm
	start time.Time
	far   time.Duration // by how much clocks may differ
	done  sync.WaitGroup

	mu      sync.Mutex
	leaders map[string]func() bool // who may lead, by name
	proofs  map[core.Proof]int
	overlap string // the first time that one of ours led beside anybody
}

// migrate plays the migration of one seed, whose clocks differ by up to far.
func migrate(t *testing.T, seed uint64, far time.Duration) (m *migration) {
	form := newPeerForm(t)
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 18))
		m = &migration{t: t, rand: r, form: form, start: time.Now(), far: far,
			leaders: map[string]func() bool{}, proofs: map[core.Proof]int{}}
		m.shelf = &shelf{t: t, rand: rand.New(rand.NewPCG(seed, 19)), ahead: m.offset(), dated: seed%3 > 0, follows: map[string]int{}}
		ctx, cancel := context.WithTimeout(t.Context(), migrationEnd)
		defer cancel()
		for i := range 2 {
			r := rand.New(rand.NewPCG(seed, uint64(100+i)))
			ahead, term := m.offset(), m.term()
			m.done.Go(func() { m.old(ctx, fmt.Sprintf("old-%d", i), r, ahead, term) })
		}
		for i := range 1 + int(seed%2) {
			r := rand.New(rand.NewPCG(seed, uint64(200+i)))
			clock, term := skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: m.offset()}), m.term()
			m.done.Go(func() { m.ours(ctx, fmt.Sprintf("new-%d", i), r, clock, term) })
		}
		m.look(ctx)
		m.done.Wait()
	})
	return m
}

// offset is a clock's, so that any two differ by at most far, and often do.
func (m *migration) offset() time.Duration {
	switch m.rand.IntN(4) {
	case 0:
		return -m.far / 2
	case 1:
		return m.far / 2
	}
	return time.Duration(m.rand.Int64N(int64(m.far)+1)) - m.far/2
}

func (m *migration) term() time.Duration {
	return 2*migrationSkew + time.Duration(m.rand.Int64N(int64(9*time.Second)))
}

// look asks everybody, all the time. That two of the old ones lead together is no
// business of ours: one that starts up takes over as soon as its own clock is past
// the expiry, although the leader's may be behind.
func (m *migration) look(ctx context.Context) {
	for sleepFor(ctx, 50*time.Millisecond) == nil {
		var who []string
		m.mu.Lock()
		for name, leads := range m.leaders {
			if leads() {
				who = append(who, name)
			}
		}
		if len(who) > 1 && m.overlap == "" && slices.ContainsFunc(who, func(name string) bool { return strings.HasPrefix(name, "new") }) {
			m.overlap = fmt.Sprintf("after %v: %s lead together", time.Since(m.start), strings.Join(who, " and "))
		}
		m.mu.Unlock()
	}
}

func (m *migration) enter(name string, leads func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaders[name] = leads
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// old is a host of that library: it crashes, is cut off, and starts again.
func (m *migration) old(ctx context.Context, id string, r *rand.Rand, ahead, term time.Duration) {
	ctx, cancel := context.WithDeadline(ctx, m.start.Add(oldLeaveAt))
	defer cancel()
	for ctx.Err() == nil {
		jitter := rand.New(rand.NewPCG(r.Uint64(), 0))
		life := &oldCandidate{line: &line{shelf: m.shelf}, form: m.form, id: id, ahead: ahead, term: term, skew: migrationSkew,
			jitter: func() time.Duration { return time.Duration(jitter.Int64N(int64(term / 10))) }}
		m.enter(id, life.leads)
		living, end := context.WithTimeout(ctx, between(r, term/4, 3*term/2))
		if r.IntN(2) == 0 { // is cut off when it leads
			m.done.Go(func() {
				for !life.leads() && sleepFor(living, 50*time.Millisecond) == nil {
				}
				life.cutFor(3 * term)
			})
		}
		for living.Err() == nil {
			life.acquire(living)
			sleepFor(living, 100*time.Millisecond)
		}
		end()
		life.die()
		sleepFor(ctx, between(r, 0, term/2))
	}
}

// ours is a host of this library. It crashes, resigns, and is cut off while it leads.
func (m *migration) ours(ctx context.Context, id string, r *rand.Rand, clock *skewclock.Clock, term time.Duration) {
	sleepFor(ctx, between(r, oursComeAt, oursComeAt+10*time.Second))
	for ctx.Err() == nil {
		way := &line{shelf: m.shelf}
		vimeo := time.Since(m.start) < oldLeaveAt || r.IntN(2) == 0
		c := core.Config{
			LeaderID: id, Decider: &shelfDecider{way, vimeo}, TermLength: term, MaxClockSkew: migrationSkew, Clock: clock,
			NoClockProof: r.IntN(2) == 0, PollInterval: between(r, 200*time.Millisecond, time.Second),
			OnEvent: m.heard,
		}
		living, end := context.WithTimeout(ctx, between(r, term, 10*term))
		l, err := c.Campaign(living)
		if err == nil {
			dead := make(chan struct{})
			m.enter(id, func() bool {
				select {
				case <-dead:
					return false
				default:
					return l.Check() == nil
				}
			})
			sleepFor(l.Context(), between(r, 0, 3*term))
			switch r.IntN(4) {
			case 0: // crashes
				close(dead)
				way.crash()
			case 1, 2: // is cut off, and goes on for as long as it may
				way.cutFor(between(r, 2*term, 4*term))
				sleepFor(l.Context(), 4*term)
			}
			resigning, cancel := context.WithTimeout(context.WithoutCancel(ctx), term)
			l.Resign(resigning)
			cancel()
		}
		end()
		way.crash()
		sleepFor(ctx, between(r, 0, 3*term))
	}
}

func (m *migration) heard(e core.Event) {
	if e.Kind == core.EventElected {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.proofs[e.Proof]++
	}
}

// TestMigration: while clocks agree within MaxClockSkew nobody ever leads beside
// one of ours, and fencing tokens rise over the reigns that know none.
func TestMigration(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 30
	}
	follows, proofs := map[string]int{}, map[core.Proof]int{}
	for seed := range seeds {
		m := migrate(t, seed, migrationSkew)
		if m.overlap != "" {
			t.Fatalf("seed %d: two leaders: %s", seed, m.overlap)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		for what, n := range m.shelf.follows {
			follows[what] += n
		}
		for p, n := range m.proofs {
			proofs[p] += n
		}
	}
	t.Logf("%v, %v", follows, proofs)
	for _, what := range []string{"ours after old", "old after ours", "old after vacant", "vacant after ours"} {
		if follows[what] < int(seeds)/20 {
			t.Errorf("%s: %d times in %d migrations: too few to show anything", what, follows[what], seeds)
		}
	}
	for _, p := range []core.Proof{core.ProofObserved, core.ProofClock} {
		if proofs[p] < int(seeds)/5 {
			t.Errorf("won by %v: %d times in %d migrations: too few to show anything", p, proofs[p], seeds)
		}
	}
}

// TestOldOneThatStartsWaitsForOurs: with the shortest term, no store time and clocks
// as far apart as they may be, an old candidate that starts again and again does
// not take over from a leader of ours that has been cut off, until that has stopped.
func TestOldOneThatStartsWaitsForOurs(t *testing.T) {
	const skew = 10 * time.Second
	form := newPeerForm(t)
	synctest.Test(t, func(t *testing.T) {
		store := &shelf{t: t, rand: rand.New(rand.NewPCG(1, 1)), follows: map[string]int{}}
		way := &line{shelf: store}
		clock := skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: -skew / 2})
		l, err := core.Config{LeaderID: "new", Decider: &shelfDecider{way, true}, Clock: clock,
			TermLength: 2 * skew, MaxClockSkew: skew}.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		way.crash() // the way, not the leader
		old := &oldCandidate{line: &line{shelf: store}, form: form, id: "old", ahead: skew / 2,
			term: 2 * skew, skew: skew, jitter: func() time.Duration { return 0 }}
		for !old.leads() {
			living, end := context.WithTimeout(t.Context(), 2*time.Second)
			old.acquire(living)
			end()
			if old.leads() && l.Check() == nil {
				t.Fatalf("two leaders: ours has %v left", time.Until(l.Expiration().Get())+skew/2)
			}
		}
		done, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		l.Resign(done)
	})
}

// TestMigrationOfClocksApart: with clocks further apart there are two leaders, and
// the test above would see them.
func TestMigrationOfClocksApart(t *testing.T) {
	for seed := range uint64(100) {
		if m := migrate(t, seed, 12*migrationSkew); m.overlap != "" {
			t.Logf("seed %d, as it should: %s", seed, m.overlap)
			return
		}
	}
	t.Error("no two leaders in a hundred migrations with clocks that differ by twelve times MaxClockSkew")
}
