package sim

import "time"

// ClockFault is what happens to a host's clocks, or to the process: then the
// host does nothing, which is what Host.Pauses says as well.
type ClockFault struct {
	At, For time.Duration
	Kind    FaultKind
	By      time.Duration // of a step
	CatchUp bool          // after a freeze
	Rate    float64
}

// FaultKind names a fault of a host.
type FaultKind string

const (
	faultStep    FaultKind = "wall clock steps"
	faultMono    FaultKind = "monotonic clock stands still"
	faultWall    FaultKind = "wall clock stands still"
	faultRate    FaultKind = "rate changes"
	faultPause   FaultKind = "process pauses"
	faultSuspend FaultKind = "process pauses and its monotonic clock stands still"
	faultShifted FaultKind = "process pauses and its wall clock steps"
	faultBoth    FaultKind = "both clocks stand still"
)

// apart is the time between two faults of one host. Two that meet no look between
// them are outside, and so this is how far looks can be apart, by a clock that may
// be slow: a leader looks every eighth of its term, but a request takes up to a
// quarter of it; and where only some answers tell the store's time, the last one
// that did may be of a poll before the last.
func (d *drawer) apart(term time.Duration) time.Duration {
	if d.Store.Tells > 0 && d.Store.Tells < 1 {
		return 2 * term
	}
	return term/4 + term/64
}

// clockFaults draws what happens to a host, one after the other.
func (d *drawer) clockFaults(h *Host) {
	p := d.Profile
	rate := (p.Clock + p.Pauses) / float64(h.Term)
	// A candidate looks once per poll, and one that remembers looks when it is
	// called. A monotonic clock that catches up and a wall clock that jumps ahead
	// could meet between two looks: a host has one of the two.
	catchesUp := d.chance(0.4)
	for at := d.wait(rate); at < d.Healed; {
		f := ClockFault{At: at}
		if d.chance(p.Pauses / (p.Clock + p.Pauses)) {
			d.pause(h, &f)
		} else {
			d.clockFault(h, &f)
		}
		f.For = min(f.For, d.Healed-at)
		switch f.Kind {
		case faultMono, faultSuspend:
			f.CatchUp = f.CatchUp && catchesUp
		case faultWall:
			f.CatchUp = f.CatchUp && !catchesUp
		case faultStep, faultShifted:
			if catchesUp {
				f.By = -f.By.Abs()
			}
		}
		h.Faults = append(h.Faults, f)
		at += f.For + d.apart(h.Term)
		if d.chance(p.Pairs) {
			continue // one clock right after the other, perhaps
		}
		at += d.wait(rate)
	}
	for _, f := range h.Faults {
		switch f.Kind {
		case faultPause, faultSuspend, faultShifted:
			h.Pauses = append(h.Pauses, span{f.At, f.At + f.For})
		}
	}
}

func (d *drawer) pause(h *Host, f *ClockFault) {
	f.For = d.upTo(pick(d, h.Term/2, 2*h.Term))
	kinds := []FaultKind{faultPause, faultSuspend, faultShifted}
	if d.Profile.Agree {
		kinds = kinds[:2]
	}
	f.Kind = pick(d, kinds...)
	f.CatchUp = f.Kind == faultSuspend && d.chance(0.5)
	f.By = d.step(h)
}

func (d *drawer) clockFault(h *Host, f *ClockFault) {
	kinds := []FaultKind{faultMono, faultWall, faultStep, faultStep, faultRate}
	switch {
	case d.Profile.BothFrozen:
		kinds = []FaultKind{faultBoth}
	case d.Profile.Agree: // a wall clock that stands still or steps does not agree
		kinds = kinds[:1]
	}
	f.Kind = pick(d, kinds...)
	switch f.Kind {
	case faultMono, faultWall, faultBoth:
		f.For = d.upTo(pick(d, h.Term/2, 2*h.Term))
		f.CatchUp = d.chance(0.5)
	case faultStep:
		f.By = d.step(h)
	case faultRate:
		f.Rate = 1 + (d.Float64()*2-1)*d.Profile.Rate
		h.Slow = min(h.Slow, f.Rate)
	}
}

// step is how far a wall clock jumps. Forwards it ends a reign, so backwards it
// jumps more often.
func (d *drawer) step(h *Host) time.Duration {
	by := d.upTo(pick(d, h.Term/4, h.Term, 4*h.Term, time.Hour, 24*time.Hour))
	if d.chance(0.6) {
		return -by
	}
	return by
}

// lives draws the processes of a host. The first host always has one.
func (d *drawer) lives(h *Host, i int) {
	p := d.Profile
	short := i > 0 && d.chance(p.Short)
	stubborn := d.chance(p.Stubborn)
	if d.Seen {
		h.Lives = []Life{{From: d.upTo(h.Term / 2), To: d.End, Seed: d.Uint64(), Remember: true, Stubborn: d.chance(0.5),
			Style: pick(d, styleCampaign, styleAcquire, styleRun, styleManual)}}
		return
	}
	reclaims := d.chance(0.3)
	at := d.upTo(h.Term / 2)
	for at < d.End-h.Term {
		l := Life{From: at, Seed: d.Uint64(), Crash: d.chance(p.Crash), Remember: d.chance(0.5),
			Reclaim: reclaims && d.chance(0.7), Stubborn: stubborn}
		if short {
			l.Style, l.To = styleTry, at+1+d.upTo(pick(d, h.Term/8, h.Term/2, 3*h.Term))
			l.Reclaim = reclaims && d.chance(0.3)
		} else {
			l.Style = pick(d, styleCampaign, styleCampaign, styleAcquire, styleAcquire, styleRun, styleManual)
			l.To = at + h.Term + d.upTo(12*h.Term)
		}
		if l.To > d.Healed && (i == 0 || !short) || stubborn && d.chance(0.5) {
			l.To = d.End
		}
		if l.To >= d.Healed { // nobody crashes when the faults have ended
			l.Crash = false
		}
		h.Lives = append(h.Lives, l)
		at = l.To + d.upTo(pick(d, h.Term/16, h.Term))
	}
}

// vandalism: what may go wrong with the entry itself.
func (d *drawer) vandalism() {
	if d.Profile.Corrupt && d.chance(0.6) {
		at := d.upTo(d.Healed)
		to := min(at+d.upTo(2*d.Longest), d.Healed)
		d.Corruptions = append(d.Corruptions, span{at, to})
		d.Shut = max(d.Shut, d.Longest) // the operator's entry stands for as long
		d.End += d.Longest
	}
	if d.Profile.Delete && d.Store.Tells == 1 {
		// Writes that began before the entry was first there must have landed.
		for at := 5 * d.Longest; at < d.Healed; at += 5*d.Longest + d.upTo(10*d.Longest) {
			d.Deletions = append(d.Deletions, at)
		}
	}
}

// breakAssumptions: what only the profiles outside do.
func (d *drawer) breakAssumptions() {
	if d.Profile.Twin {
		d.Hosts[1].Name = d.Hosts[0].Name
		for i := range d.Hosts[:2] {
			for j := range d.Hosts[i].Lives {
				d.Hosts[i].Lives[j].Reclaim = true
			}
		}
	}
	if d.Profile.DeleteUnderLeader {
		for at := d.Longest + d.upTo(4*d.Longest); at < d.Healed; at += d.Longest + d.upTo(8*d.Longest) {
			d.Deletions = append(d.Deletions, at)
		}
	}
}
