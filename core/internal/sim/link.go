package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// link is a process's line to the store. It takes time, is cut at times, and
// may be used with calls that ignore their context. What it carries goes through
// the host's faultdecider.
type link struct{ life *life }

var errCut = errors.New("sim: no connection")

// errDead ends at once whatever a process still does that has crashed: it is
// only its goroutines that are still there.
var errDead = fmt.Errorf("%w: sim: this process is dead", core.ErrBroken)

// MinWriteInterval is the store's.
func (k link) MinWriteInterval() time.Duration { return k.life.host.net.MinWriteInterval() }

// ReadCurrent asks the store.
func (k link) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	e, err := carry(ctx, k.life, 0, k.life.host.net.ReadCurrent)
	if err == nil && !e.Absent() && ctx.Err() == nil {
		k.life.seen.Store(true)
	}
	return e, err
}

// WriteEntry asks the store.
func (k link) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if k.life.dead.Load() {
		return nil, errDead
	}
	k.life.host.w.ledger.sends(k.life, e)
	defer k.life.host.w.ledger.answered()
	sent := e.Clone() // the call may outlast its caller
	kind := 2*uint64(e.ElectionNumber+1) + 1
	if e.Vacant() {
		kind = ^kind
	}
	return carry(ctx, k.life, kind, func(ctx context.Context) (entry.LeaderToken, error) {
		return k.life.host.net.WriteEntry(ctx, &sent)
	})
}

// carry takes a request to the store and its answer back.
func carry[T any](ctx context.Context, l *life, kind uint64, ask func(context.Context) (T, error)) (answer T, err error) {
	h := l.host
	if l.dead.Load() {
		return answer, errDead
	}
	h.w.transport.add()
	defer h.w.transport.done()
	r := h.draw(kind)
	there, back := time.Duration(r.Int64N(int64(4*time.Millisecond))), time.Duration(r.Int64N(int64(4*time.Millisecond)))
	if trueTime() < h.w.plan.Healed && r.Float64() < h.Deaf { // a call that ignores its context
		h.w.counts.add("fault call ignores its context", 1)
		ctx = deaf{context.WithoutCancel(ctx), h.w.lines}
		switch r.IntN(3) {
		case 0: // it lands when its caller has given up
			there = time.Duration(r.Int64N(int64(2 * h.Term)))
		case 1: // its answer comes later than a term
			back = h.Term + time.Duration(r.Int64N(int64(h.Term)))
			h.w.counts.add("fault answer late by more than a term", 1)
		}
	}
	if h.cut() {
		h.w.counts.add("fault connection cut", 1)
		if r.IntN(2) == 0 {
			<-ctx.Done()
		}
		return answer, errCut
	}
	if !h.wire.SleepFor(ctx, there) {
		return answer, ctx.Err()
	}
	answer, err = ask(ctx)
	var none T
	switch {
	case h.cut():
		return none, errCut
	case !h.lane.SleepFor(ctx, back):
		return none, ctx.Err()
	case l.dead.Load():
		return none, errDead
	}
	return answer, err
}

// deaf is a context with the values of one and the end of another.
type deaf struct {
	context.Context
	end context.Context
}

func (d deaf) Done() <-chan struct{} { return d.end.Done() }
func (d deaf) Err() error            { return d.end.Err() }

// draw is the chance of a request that is sent now. It depends on what is sent
// and when, not on how many there were before: two that are sent at the same
// instant have no order.
func (h *host) draw(kind uint64) *rand.Rand {
	return rand.New(rand.NewPCG(h.w.plan.Seed^uint64(h.number)<<32, mix(uint64(trueTime()))^kind))
}

// cut tells whether the store cannot be reached from this host now.
func (h *host) cut() bool {
	at := trueTime()
	for _, spans := range [][]span{h.Cuts, h.w.plan.Outages} {
		for _, s := range spans {
			if s.holds(at) {
				return true
			}
		}
	}
	return false
}
