package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cloudelect/cloudelect/core/faultdecider"
)

// Plan is one run, before it is played. It is a value: nothing in it depends on
// what happens.
type Plan struct {
	Seed    uint64
	Profile Profile

	// Healed is when the faults end, and End when everybody goes home.
	Healed, End time.Duration
	// Longest is the longest term of anybody, Shut what may keep the election
	// closed besides.
	Longest, Shut time.Duration
	Store         Store
	Hosts         []Host
	Outages       []span
	Deletions     []time.Duration
	Corruptions   []span // unreadable from, repaired at
	// Seen: one process per host from beginning to end, all of which remember:
	// then the entry may be deleted even under its leader.
	Seen bool
	// Contend: workers write (renew, save checkpoints) while the election renews by
	// itself. Who of the two comes first at the same instant is the scheduler's
	// choice, so such a run does not always repeat; all others do.
	Contend bool
	// Often: the judge asks everybody's Check again and again, and workers ask
	// theirs. Asking looks at the clocks and so may hide a fault: in other runs
	// Check is asked only when somebody wins and when somebody wakes up.
	Often bool
}

// Store is what the store is like.
type Store struct {
	Tells  float64       // how many answers tell the store's time
	Offset time.Duration // by which the store's clock is wrong
	Spread time.Duration // how far its servers are apart
	Limit  time.Duration // between two writes
}

// Host is one machine: its clocks and its line to the store. Processes come and
// go on it, one at a time.
type Host struct {
	Name   string
	Offset time.Duration // of the wall clock
	Rate   float64       // of both clocks
	Slow   float64       // the lowest rate that it ever has

	Term, Skew, Poll, Renew, MinHold time.Duration
	NoClockProof, Wake, Hooks        bool

	Faults []ClockFault
	Pauses []span
	Cuts   []span
	Net    faultdecider.Plan
	Deaf   float64
	Lives  []Life
}

// Life is one process.
type Life struct {
	From, To time.Duration
	Crash    bool // it ends without a word
	Style    Style
	Remember bool // it keeps a Memory between its calls
	Reclaim  bool
	Stubborn bool // it leads for as long as it can
	Seed     uint64
}

// Style is how a process uses the election.
type Style string

const (
	styleCampaign Style = "campaign"
	styleManual   Style = "manual"
	styleAcquire  Style = "acquire"
	styleRun      Style = "run"
	styleTry      Style = "try"
)

// drawer draws a plan.
type drawer struct {
	*rand.Rand
	Plan
}

// NewPlan draws the plan of a seed.
func NewPlan(profile Profile, seed uint64) Plan {
	h := uint64(14695981039346656037)
	for _, b := range []byte(profile.Name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, h)), Plan: Plan{Seed: seed, Profile: profile}}
	d.Often, d.Contend = d.chance(0.5), d.chance(0.25)
	d.Seen = profile.Delete && d.chance(0.5)
	base := pick(d, 2*time.Second, 3*time.Second, 5*time.Second, 10*time.Second, 15*time.Second)
	n := profile.Hosts[0] + d.IntN(profile.Hosts[1]-profile.Hosts[0]+1)
	for i := range n {
		d.Hosts = append(d.Hosts, d.host(i, base))
	}
	for _, h := range d.Hosts {
		d.Longest = max(d.Longest, h.Term)
		d.Shut = max(d.Shut, h.MinHold)
	}
	terms := profile.Terms[0] + d.IntN(profile.Terms[1]-profile.Terms[0]+1)
	d.Healed = time.Duration(terms) * base
	d.End = d.Healed + 3*d.Longest + d.Shut
	d.store()
	d.vandalism()
	d.walls()
	for i := range d.Hosts {
		h := &d.Hosts[i]
		d.clockFaults(h)
		h.Cuts = d.spans(profile.Cuts/float64(h.Term), 2*h.Term)
		h.Net = d.net(h.Term, uint64(i))
		d.lives(h, i)
	}
	d.Outages = d.spans(profile.Outages/float64(base), 2*base)
	d.breakAssumptions()
	return d.Plan
}

func (d *drawer) chance(p float64) bool { return d.Float64() < p }

// upTo is a time in [0, most].
func (d *drawer) upTo(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return time.Duration(d.Int64N(int64(most) + 1))
}

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

// either is d upwards or downwards.
func (d *drawer) either(most time.Duration) time.Duration { return d.upTo(2*most) - most }

func (d *drawer) host(i int, base time.Duration) Host {
	p := d.Profile
	h := Host{Name: fmt.Sprintf("%c%x", 'a'+i, d.Uint32()&0xfff)}
	h.Term = max(pick(d, base, base, base, base/2, 2*base), 2*time.Second)
	h.Skew = pick(d, 0, 0, h.Term/20, h.Term/4, h.Term/2)
	h.Poll = pick(d, 0, 0, h.Term/10, h.Term/25)
	h.Renew = pick(d, 0, 0, h.Term/4, h.Term/2)
	if d.chance(0.05) {
		h.MinHold = d.upTo(h.Term)
	}
	h.Rate = 1 + (d.Float64()*2-1)*p.Rate
	if d.chance(0.4) { // as fast or slow as may be
		h.Rate = 1 + pick(d, -1, 1.0)*p.Rate
	}
	h.Slow = h.Rate
	h.Offset = d.either(p.Offset)
	h.Deaf = d.Float64() * p.Deaf
	h.Wake, h.Hooks = d.chance(0.2), d.chance(0.25)
	return h
}

// spans are times before Healed, of up to long, that begin at this rate.
func (d *drawer) spans(perNano float64, long time.Duration) []span {
	var all []span
	for at := d.wait(perNano); at < d.Healed; at += d.wait(perNano) {
		s := span{at, min(at+d.upTo(long), d.Healed)}
		all = append(all, s)
		at = s.to
	}
	return all
}

// wait is the time to the next of what happens at this rate.
func (d *drawer) wait(perNano float64) time.Duration {
	if perNano <= 0 {
		return 1 << 60
	}
	return time.Duration(d.ExpFloat64() / perNano)
}
