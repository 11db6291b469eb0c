package sim

import (
	"time"

	"github.com/cloudelect/cloudelect/core/faultdecider"
)

// leastSkew is the MaxClockSkew of who relies on the best clocks.
func (d *drawer) leastSkew() time.Duration {
	least := time.Hour
	for _, h := range d.Hosts {
		skew := h.Skew
		if skew == 0 {
			skew = min(time.Second, h.Term/10)
		}
		least = min(least, skew)
	}
	return least
}

func (d *drawer) store() {
	p := d.Profile
	s := &d.Store
	s.Tells = 1
	switch x := d.Float64(); {
	case x < p.Untimely:
		s.Tells = 0
	case x < p.Untimely+p.Patchy:
		s.Tells = d.Float64()
	}
	s.Offset = pick(d, 0, d.either(20*time.Second), d.either(72*time.Hour))
	s.Spread = pick(d, 0, d.upTo(d.leastSkew()), d.leastSkew())
	if s.Tells == 1 && d.chance(0.15) {
		s.Limit = time.Second // for which every term is long enough
	}
	for i := range d.Hosts {
		h := &d.Hosts[i]
		if h.Renew != 0 {
			h.Renew = max(h.Renew, s.Limit)
		}
		// Where the store's time decides, a clock proof cannot be used.
		h.NoClockProof = !p.ClockProof && (s.Tells != 1 || d.chance(0.5))
	}
}

// walls makes wall clocks agree, where they have to, for the whole run.
func (d *drawer) walls() {
	if !d.Profile.Agree {
		return
	}
	room := d.leastSkew()
	for i := range d.Hosts {
		h := &d.Hosts[i]
		drift := time.Duration(float64(d.End) * (h.Rate - 1))
		if drift.Abs() > room/2 {
			h.Rate, h.Slow, drift = 1, 1, 0
		}
		// From the first instant to the last it stays within [0, room].
		h.Offset = max(-drift, 0) + d.upTo(room-drift.Abs())
		if d.chance(0.5) {
			h.Offset = max(-drift, 0) + pick(d, 0, room-drift.Abs())
		}
	}
}

// net is what the network does to the requests of a host.
func (d *drawer) net(term time.Duration, stream uint64) faultdecider.Plan {
	plan := faultdecider.Plan{Seed: d.Seed*64 + stream}
	if d.Profile.Net == 0 || d.chance(0.2) {
		return plan
	}
	p := d.Float64() * d.Profile.Net
	for _, f := range []faultdecider.Fault{
		{Op: faultdecider.Any, Kind: faultdecider.Delay, Probability: p, For: 1 + d.upTo(term/2)},
		{Op: faultdecider.Write, Kind: faultdecider.Duplicate, Probability: p},
		{Op: faultdecider.Any, Kind: faultdecider.DelayAfter, Probability: p, For: 1 + d.upTo(term/2)},
		{Op: faultdecider.Write, Kind: faultdecider.Late, Probability: p, For: 1 + d.upTo(term/4)},
		{Op: faultdecider.Write, Kind: faultdecider.Late, Probability: p / 2, For: 1 + d.upTo(2*term)},
		{Op: faultdecider.Write, Kind: faultdecider.Lose, Probability: p},
		{Op: faultdecider.Any, Kind: faultdecider.Fail, Probability: p},
		{Op: faultdecider.Any, Kind: faultdecider.HangAfter, Probability: p / 2},
		{Op: faultdecider.Any, Kind: faultdecider.Hang, Probability: p / 2},
		{Op: faultdecider.Any, Kind: faultdecider.Stuck, Probability: p / 10, Times: 2},
		{Op: faultdecider.Any, Kind: faultdecider.Broken, Probability: p / 20, Times: 2},
	} {
		if d.chance(0.8) {
			plan.Faults = append(plan.Faults, f)
		}
	}
	return plan
}
