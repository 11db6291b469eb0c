package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// The kinds of violations: what must hold, broken.
const (
	twoLeaders    = "two leaders"                    // 1
	tokenFell     = "a fencing token that falls"     // 2
	staleWrite    = "a write of the past"            // 2
	chainBroken   = "a broken chain"                 // 3
	nobodyLeads   = "nobody leads"                   // 4
	badCallbacks  = "callbacks out of order"         // 5
	leaked        = "goroutines are left"            // 5
	neverReturned = "a call that does not return"    // 5
	tooSoon       = "a win within MinHold"           // 4.4 of the design
	lostToItself  = "a reign lost to its own write"  // 4.3 of the design
	contextLate   = "a context that outlives a term" // 6
	contextWrong  = "Check and the context disagree" // 1 and 6
)

// Violation is one thing that must not be.
type Violation struct {
	Kind string
	At   time.Duration
	Who  int // the host; -1: nobody in particular
	What string
}

// judge knows the true time, and every leadership.
type judge struct {
	w    *world
	lane *lane
	rand *rand.Rand

	mu   sync.Mutex
	live []*reign
	all  map[*core.Leadership]int // the order of reigns

	led atomic.Bool // somebody has won since the faults ended, if only for a moment

	vmu   sync.Mutex
	found []Violation
}

// reign is a leadership that may still last.
type reign struct {
	*core.Leadership
	life *life
	over atomic.Bool
}

func newJudge(w *world) *judge {
	return &judge{w: w, lane: newLane(62, nil), rand: rand.New(rand.NewPCG(w.plan.Seed, 2)), all: map[*core.Leadership]int{}}
}

func (j *judge) violated(kind string, who int, format string, args ...any) {
	j.vmu.Lock()
	defer j.vmu.Unlock()
	if len(j.found) < 20 { // one is enough; the others may be its consequences
		j.found = append(j.found, Violation{kind, trueTime(), who, fmt.Sprintf(format, args...)})
	}
}

func (j *judge) violations() []Violation {
	j.vmu.Lock()
	defer j.vmu.Unlock()
	return slices.Clone(j.found)
}

func (j *judge) failed() bool {
	j.vmu.Lock()
	defer j.vmu.Unlock()
	return len(j.found) > 0
}

// won is told of every win at the instant of its confirmation. It is the moment
// at which two leaderships overlap if they ever do: what has ended stays so.
func (j *judge) won(l *life, won *core.Leadership) {
	h := l.host
	if l.dead.Load() {
		return
	}
	e := won.Entry()
	order, known := j.w.ledger.reign(e.Nonce)
	if !known {
		j.violated(tokenFell, h.number, "%q leads (token %d) by an entry that began no reign", h.Name, e.FencingToken)
	}
	j.w.counts.add("proof "+won.Proof().String(), 1)
	j.w.counts.add("reign", 1)
	j.w.diary.note(h.number, elected, won.FencingToken(), int64(won.Proof()), "")
	j.led.Store(trueTime() >= j.w.plan.Healed)
	j.mu.Lock()
	j.all[won] = order
	j.live = append(j.live, &reign{Leadership: won, life: l})
	j.mu.Unlock()
	context.AfterFunc(won.Context(), func() {
		if !l.dead.Load() {
			why := context.Cause(won.Context())
			if errors.Is(why, core.ErrLeadershipLost) && j.w.ledger.isOf(l, won.FencingToken()) {
				j.violated(lostToItself, h.number, "%s (token %d) ends, %v, and is what is stored", h.Name, won.FencingToken(), why)
			}
			j.w.counts.add(endOf(why), 1)
			j.w.diary.note(h.number, ended, won.FencingToken(), int64(howEnded(why)), why.Error())
		}
	})
	j.look(true)
}

// reign is the place of a leadership in the order of reigns.
func (j *judge) reign(l *core.Leadership) (int, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, ok := j.all[l]
	return n, ok
}

// awake are the leaderships that may last and whose process runs now.
func (j *judge) awake() []*reign {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.live = slices.DeleteFunc(j.live, func(r *reign) bool { return r.over.Load() || r.life.dead.Load() })
	return slices.DeleteFunc(slices.Clone(j.live), func(r *reign) bool { return r.life.host.paused() })
}

// anyone tells whether some leadership may last, without asking it.
func (j *judge) anyone() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.live, func(r *reign) bool { return !r.life.dead.Load() && r.Context().Err() == nil })
}

// look judges this instant. It asks everybody's Check only if ask is set; the
// contexts are judged at every look. It tells whether somebody leads.
func (j *judge) look(ask bool) bool {
	var leading []*reign
	for _, r := range j.awake() {
		done := r.Context().Err() != nil
		if !done {
			j.lasts(r)
		}
		if !ask {
			if done {
				r.over.Store(true)
			}
			continue
		}
		err := r.Check()
		switch {
		case err == nil && done:
			j.violated(contextWrong, r.life.host.number, "Check passes after the context has ended")
		case err != nil && r.Context().Err() == nil:
			j.violated(contextWrong, r.life.host.number, "the context lasts though Check says: %v", err)
		}
		if err != nil {
			r.over.Store(true)
			continue
		}
		leading = append(leading, r)
	}
	if len(leading) > 1 {
		text := ""
		for _, r := range leading {
			text += fmt.Sprintf("; %s with the token %d, by %v", r.life.host.Name, r.FencingToken(), r.Proof())
		}
		j.violated(twoLeaders, leading[1].life.host.number, "%d pass Check at the same instant%s", len(leading), text)
	}
	return len(leading) > 0
}

// lasts judges whether a context may last: no longer than the term since the
// last confirmed write was sent, by a clock that runs as slow as this host's
// does at its slowest. A timer cannot be due while the monotonic clock stands
// still or the process does, so that time does not count.
func (j *judge) lasts(r *reign) {
	h := r.life.host
	e := r.Entry()
	now, sent := trueTime(), j.w.ledger.sentAt(e.Nonce)
	most := time.Duration(float64(e.TermLength)/h.Slow) + 4*afterPause
	for _, f := range h.Faults {
		switch f.Kind {
		case faultMono, faultBoth, faultPause, faultSuspend, faultShifted:
			most += (span{f.At, f.At + f.For + 4*afterPause}).overlap(sent, now)
		}
	}
	if now-sent > most {
		j.violated(contextLate, h.number, "the context of %s (token %d) lasts for %v, %v at most are granted", h.Name, e.FencingToken, now-sent, most)
	}
}

// resumed looks at the instant at which a process goes on.
func (j *judge) resumed(h *host) {
	j.mu.Lock()
	leads := slices.ContainsFunc(j.live, func(r *reign) bool { return r.life.host == h && !r.over.Load() })
	j.mu.Unlock()
	if leads {
		j.look(true)
	}
}

// watch looks again and again until the run is over, and sees to it that
// somebody leads when the faults have ended.
func (j *judge) watch() {
	w := j.w
	step := w.plan.Longest / 4
	for trueTime() < w.plan.Healed && !j.failed() {
		j.lane.SleepFor(w.ctx, min(time.Duration(j.rand.Int64N(int64(step)))+1, w.plan.Healed-trueTime()))
		j.look(w.plan.Often)
	}
	w.heal()
	w.diary.note(-1, happened, 0, 0, "the faults have ended")
	most := 2*w.plan.Longest + w.plan.Shut*21/20
	began := trueTime()
	for !j.look(true) && !j.led.Load() && !j.failed() && !w.plan.Profile.Outside {
		if trueTime()-began > most {
			j.violated(nobodyLeads, -1, "nobody has led for %v since the faults have ended", trueTime()-began)
			break
		}
		j.lane.SleepFor(w.ctx, w.plan.Longest/32)
	}
	w.counts.longest("longest wait for a leader after the faults (ms per term)", int((trueTime()-began)*1000/w.plan.Longest))
	for trueTime() < w.plan.End && !j.failed() {
		j.lane.SleepFor(w.ctx, step)
		j.look(true)
	}
}
