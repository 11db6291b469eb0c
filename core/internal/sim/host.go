package sim

import (
	"sync/atomic"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/faultdecider"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// host is one machine of a run.
type host struct {
	w      *world
	number int
	Host
	lane  *lane // what its processes do
	wire  *lane // what its messages do
	sky   *lane // what befalls it
	start *lane // when processes begin
	clock *skewclock.Clock
	net   *faultdecider.Decider
	wake  chan struct{}
	now   atomic.Pointer[life] // its process
}

// Lanes: hosts have four each, 61 is the operator's, 62 the judge's.
func newHost(w *world, i int) *host {
	h := &host{w: w, number: i, Host: w.plan.Hosts[i]}
	h.sky, h.start, h.lane, h.wire = newLane(i, nil), newLane(10+i, h.Pauses), newLane(20+i, h.Pauses), newLane(40+i, nil)
	h.clock = skewclock.New(h.lane, &skewclock.Options{Offset: h.Offset, Rate: h.Rate, Mono: h.Offset.Abs()})
	if h.Wake {
		h.wake = make(chan struct{}, 1)
	}
	var err error
	if h.net, err = faultdecider.New(w.ledger, h.Net, &faultdecider.Options{Clock: h.wire}); err != nil {
		panic(err) // the plan is ours
	}
	return h
}

// paused tells whether the host does nothing now.
func (h *host) paused() bool {
	at := trueTime()
	for _, p := range h.Pauses {
		if p.holds(at) {
			return true
		}
	}
	return false
}

// rouse is a storage notification.
func (h *host) rouse() {
	if h.wake == nil || h.w.ctx.Err() != nil {
		return
	}
	h.lane.AfterFunc(0, func() {
		select {
		case h.wake <- struct{}{}:
		default:
		}
	})
}

// weather lets the host's faults happen.
func (h *host) weather() {
	for _, f := range h.Faults {
		if !h.sky.until(h.w.ctx, f.At) {
			return
		}
		h.w.counts.add("fault "+string(f.Kind), 1)
		h.w.diary.note(h.number, happened, int64(f.For), int64(f.By), string(f.Kind))
		thaw := h.suffer(f)
		if f.For > 0 {
			h.sky.until(h.w.ctx, f.At+f.For)
			thaw()
			h.w.diary.note(h.number, passed, 0, 0, string(f.Kind))
		}
		switch f.Kind {
		case faultPause, faultSuspend, faultShifted:
			h.w.judge.resumed(h)
		}
	}
}

// suffer begins a fault, and returns what ends it.
func (h *host) suffer(f ClockFault) (thaw func()) {
	c := h.clock
	switch f.Kind {
	case faultStep, faultShifted:
		c.Step(f.By)
	case faultRate:
		c.SetRate(f.Rate)
	case faultMono, faultSuspend:
		c.FreezeMono()
		return func() { c.ThawMono(f.CatchUp) }
	case faultWall:
		c.FreezeWall()
		return func() { c.ThawWall(f.CatchUp) }
	case faultBoth:
		c.FreezeMono()
		c.FreezeWall()
		return func() { c.ThawMono(false); c.ThawWall(false) }
	}
	return func() {}
}

// live lets one process after the other live on the host.
func (h *host) live() {
	for _, l := range h.Lives {
		if !h.start.until(h.w.ctx, l.From) {
			return
		}
		process := newLife(h, l)
		h.now.Store(process)
		process.live()
	}
}

// config is the Config of a process of this host.
func (h *host) config() core.Config {
	return core.Config{LeaderID: h.Name, Clock: h.clock, TermLength: h.Term, MaxClockSkew: h.Skew, PollInterval: h.Poll,
		RenewInterval: h.Renew, MinHold: h.MinHold, NoClockProof: h.NoClockProof, Wake: h.wake}
}
