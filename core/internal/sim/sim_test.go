package sim

import (
	"flag"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

var (
	oneSeed   = flag.Uint64("sim.seed", 0, "play this seed only; 0: -sim.seeds of them")
	seeds     = flag.Int("sim.seeds", 300, "how many seeds TestSim plays, over all profiles")
	firstSeed = flag.Uint64("sim.first", 1, "the first seed")
	profile   = flag.String("sim.profile", "all", "the profile that TestSim plays; all: every one inside the assumptions, in turn")
	drawTo    = flag.String("sim.timeline", "", "with -sim.seed and one -sim.profile: draw the run to this file, an absolute path that ends in .svg or .html")
	cut       = flag.String("sim.cut", "", "which part -sim.timeline draws, like 20s:65s; by default all of it, or what is around a violation")
	workers   = flag.Int("sim.workers", 2, "how many seeds are played at a time")
)

// enough seeds to expect that everything was met.
const enough = 100

func TestSim(t *testing.T) {
	profiles := chosen(t)
	if *seeds < 1 || *workers < 1 {
		t.Fatalf("sim: -sim.seeds %d -sim.workers %d: say at least 1", *seeds, *workers)
	}
	draw := drawing(t, profiles)
	n := uint64(*seeds)
	first := *firstSeed
	if *oneSeed != 0 {
		first, n = *oneSeed, 1
		if len(profiles) > 1 {
			n = uint64(len(profiles))
		}
	}
	met := campaign(t, profiles, first, n, draw)
	if !t.Failed() && n >= enough {
		for _, what := range Expected(profiles) {
			if met[what] == 0 {
				t.Errorf("sim: in %d runs there was not one %q: they have shown nothing about it", n, what)
			}
		}
	}
	report(t, met, n)
	goleak.VerifyNone(t)
}

// chosen are the profiles of -sim.profile.
func chosen(t *testing.T) []Profile {
	if *profile == "all" {
		return insideProfiles()
	}
	var all []Profile
	for _, name := range strings.Split(*profile, ",") {
		p, ok := profileNamed(name)
		if !ok {
			t.Fatalf("sim: there is no profile %q", name)
		}
		all = append(all, p)
	}
	return all
}

// campaign plays n runs, profile by profile in turn, until one fails, and
// returns what they met.
func campaign(t *testing.T, profiles []Profile, first, n uint64, draw func(*Result, Plan) error) map[string]int {
	var mu sync.Mutex
	met := map[string]int{}
	var next atomic.Uint64
	var failed atomic.Bool
	t.Run("runs", func(t *testing.T) {
		for range max(*workers, 1) {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1) - 1; i < n && !failed.Load(); i = next.Add(1) - 1 {
					seed := first + i/uint64(len(profiles))
					p := NewPlan(profiles[i%uint64(len(profiles))], seed)
					r := play(t, p)
					for again := 0; *oneSeed != 0 && p.Contend && len(r.Violations) == 0 && again < 50; again++ {
						r = play(t, p) // see Plan.Contend
					}
					if err := draw(r, p); err != nil {
						t.Error(err)
					}
					mu.Lock()
					for what, k := range r.Counts {
						if strings.HasPrefix(what, "longest") {
							met[what] = max(met[what], k)
						} else {
							met[what] += k
						}
					}
					mu.Unlock()
					if len(r.Violations) > 0 && !failed.Swap(true) {
						t.Error("\n" + r.Draw(p))
					}
				}
			})
		}
	})
	return met
}

func play(t *testing.T, p Plan) (r *Result) {
	synctest.Test(t, func(*testing.T) { r = Play(p) })
	return r
}

func report(t *testing.T, met map[string]int, n uint64) {
	t.Logf("%d runs:", n)
	for _, what := range slices.Sorted(maps.Keys(met)) {
		t.Logf("%9d  %s", met[what], what)
	}
}

// A seed is all that a run depends on.
func TestASeedRepeats(t *testing.T) {
	for _, p := range Profiles() {
		for seed := uint64(1); seed <= 8; seed++ {
			plan := NewPlan(p, seed)
			if plan.Contend { // there the scheduler has a say
				continue
			}
			one, two := play(t, plan), play(t, NewPlan(p, seed))
			if i := firstDifference(one.Events, two.Events); i >= 0 {
				t.Fatalf("profile %s, seed %d: event %d of %d and %d differs:\n%s\n%s", p.Name, seed, i, len(one.Events), len(two.Events),
					strings.Join(around(one.Events, i), "\n"), strings.Join(around(two.Events, i), "\n"))
			}
		}
	}
}

func firstDifference(a, b []string) int {
	i := sort.Search(min(len(a), len(b)), func(n int) bool { return !slices.Equal(a[:n+1], b[:n+1]) })
	if i == len(a) && i == len(b) {
		return -1
	}
	return i
}

func around(events []string, i int) []string { return events[max(i-3, 0):min(i+3, len(events))] }

// Who breaks an assumption gets what SAFETY.md says: the judge can see.
func TestOutsideTheAssumptions(t *testing.T) {
	for _, p := range outsideProfiles() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= uint64(p.Within); seed++ {
				plan := NewPlan(p, seed)
				r := play(t, plan)
				for _, v := range r.Violations {
					if v.Kind == p.Kind {
						t.Logf("%s: seed %d: %s\n%s", p.About, seed, v.What, r.timeline(plan, v.At))
						return
					}
				}
			}
			t.Errorf("%s: no %q in %d runs: the judge does not see it", p.About, p.Kind, p.Within)
		})
	}
}
