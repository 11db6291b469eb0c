package sim

import (
	"errors"
	"maps"
	"sync"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/faultdecider"
)

// counts is what a run has met.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what] += n
}

// longest notes a number of which only the highest matters.
func (c *counts) longest(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what] = max(c.n[what], n)
}

func (c *counts) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.n)
}

// endOf names how a reign has ended.
func endOf(why error) string {
	switch {
	case errors.Is(why, core.ErrResigned):
		return "end resigned"
	case errors.Is(why, core.ErrTermExpired):
		return "end expired"
	case errors.Is(why, core.ErrLeadershipLost):
		return "end lost"
	}
	return "end with its context"
}

// Expected is what runs of these profiles must have met: each kind of fault that
// they can draw, each proof, contested wins. A run that did not meet it has not
// shown anything about it.
func Expected(profiles []Profile) []string {
	want := map[string]bool{"contested win": true, "fenced write": true, "fenced write refused": true,
		"end resigned": true, "end expired": true, "end lost": true, "end with its context": true,
		"proof vacant": true, "proof reclaimed": true, "proof observed": true}
	when := func(yes bool, what ...string) {
		for _, w := range what {
			want[w] = want[w] || yes
		}
	}
	for _, p := range profiles {
		when(p.Untimely < 1, "proof store-time")
		when(p.ClockProof, "proof clock")
		when(p.Clock > 0 && !p.BothFrozen, "fault "+string(faultMono))
		when(p.Clock > 0 && !p.BothFrozen && !p.Agree, "fault "+string(faultWall), "fault "+string(faultStep), "fault "+string(faultRate))
		when(p.BothFrozen, "fault "+string(faultBoth))
		when(p.Pauses > 0, "fault "+string(faultPause), "fault "+string(faultSuspend))
		when(p.Pauses > 0 && !p.Agree, "fault "+string(faultShifted))
		when(p.Cuts > 0 || p.Outages > 0, "fault connection cut")
		when(p.Crash > 0, "fault crash")
		when(p.Deaf > 0, "fault call ignores its context", "fault answer late by more than a term", "fault write lands after its sender gave up")
		when(p.Delete || p.DeleteUnderLeader, "fault entry deleted", "fault entry deleted under its leader")
		when(p.Corrupt, "fault entry corrupted", "fault entry repaired")
		when(p.Short < 1, "fault callback panics", "fault callback slow", "fault callback ignores its context")
		if p.Net > 0.05 {
			for _, k := range []faultdecider.Kind{faultdecider.Delay, faultdecider.DelayAfter, faultdecider.Duplicate, faultdecider.Late,
				faultdecider.Lose, faultdecider.Fail, faultdecider.Hang, faultdecider.HangAfter, faultdecider.Stuck, faultdecider.Broken} {
				when(true, "fault "+string(k))
			}
		}
	}
	var all []string
	for w, yes := range want {
		if yes {
			all = append(all, w)
		}
	}
	return all
}
