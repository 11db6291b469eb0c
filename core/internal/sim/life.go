package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// life is one process.
type life struct {
	Life
	host *host
	cfg  core.Config
	seen atomic.Bool     // it has been told of an entry
	dead atomic.Bool     // it has crashed: what its goroutines do does not count
	ctx  context.Context // ends when it is told to stop, or has crashed
	gone context.Context // ends when it has crashed or has come to its end
	rand *rand.Rand      // of what it does, which is one thing at a time
}

func newLife(h *host, plan Life) *life {
	return &life{Life: plan, host: h, rand: rand.New(rand.NewPCG(plan.Seed, 1))}
}

// live is the process from its start to its end.
func (l *life) live() {
	h := l.host
	ctx, stop := context.WithCancel(h.w.ctx)
	gone, vanish := context.WithCancel(context.Background())
	defer vanish()
	defer stop()
	l.ctx, l.gone = ctx, gone
	h.w.diary.note(h.number, started, 0, 0, string(l.Style))
	end := h.lane.AfterFunc(l.To-trueTime(), func() {
		if l.Crash {
			l.dead.Store(true)
			h.w.counts.add("fault crash", 1)
			h.w.diary.note(h.number, crashed, 0, 0, "")
			vanish()
		}
		stop()
	})
	defer end.Stop()
	l.configure()
	switch l.Style {
	case styleAcquire:
		l.acquire()
	case styleRun:
		l.runAsLeader()
	case styleTry:
		l.try()
	default:
		l.campaign()
	}
	h.w.diary.note(h.number, stopped, 0, 0, "")
}

func (l *life) configure() {
	l.cfg = l.host.config()
	l.cfg.Decider = link{l}
	l.cfg.Reclaim = l.Reclaim
	l.cfg.ManualRenew = l.Style == styleManual || l.Style == styleTry && l.rand.IntN(2) == 0
	if l.Remember {
		l.cfg.Memory = new(core.Memory)
	}
	if l.rand.IntN(4) == 0 {
		l.cfg.ResignWithin = l.upTo(l.host.Term)
	}
	if l.host.Hooks {
		l.listen()
	}
}

func (l *life) upTo(d time.Duration) time.Duration { return time.Duration(l.rand.Int64N(int64(d) + 1)) }

// pause waits, and is false when the process is to end.
func (l *life) pause(d time.Duration) bool { return l.host.lane.SleepFor(l.ctx, d) }

// campaign campaigns and leads, again and again.
func (l *life) campaign() {
	for l.ctx.Err() == nil {
		cfg := l.cfg
		if l.rand.IntN(6) == 0 && trueTime()+2*l.host.Term < l.host.w.plan.Healed {
			cfg.WaitAtMost = 1 + l.upTo(2*l.host.Term)
		}
		ctx, cancel := l.deadline()
		won, err := cfg.Campaign(ctx)
		if err != nil {
			cancel()
			if errors.Is(err, core.ErrBroken) || errors.Is(err, core.ErrHeld) {
				l.pause(l.upTo(l.host.Term / 4))
			}
			continue
		}
		l.lead(won, cancel)
		cancel()
	}
}

// deadline is the context of a call: a function's, at times.
func (l *life) deadline() (context.Context, context.CancelFunc) {
	left := l.host.w.plan.Healed - trueTime()
	if l.rand.IntN(4) > 0 || left < 0 || l.Stubborn {
		return context.WithCancel(l.ctx)
	}
	ctx, cancel := context.WithCancel(l.ctx)
	t := l.host.lane.AfterFunc(min(l.upTo(8*l.host.Term), left), cancel)
	return ctx, func() { t.Stop(); cancel() }
}

// try is a worker that lives for a moment.
func (l *life) try() {
	for n := 0; n < 4 && l.ctx.Err() == nil; n++ {
		ctx, cancel := context.WithCancel(l.ctx)
		if won, err := l.cfg.TryAcquire(ctx); err == nil {
			l.lead(won, cancel)
		}
		cancel()
		l.pause(l.upTo(l.host.Term / 2))
	}
}

// lead is what a leader does.
func (l *life) lead(won *core.Leadership, cancel context.CancelFunc) {
	h := l.host
	h.w.judge.won(l, won)
	ctx := won.Context()
	if !l.Stubborn || l.cfg.ManualRenew {
		steps := 1 + l.rand.IntN(12)
		for n := 0; (n < steps || l.Stubborn) && l.alive(won); n++ {
			h.lane.SleepFor(ctx, l.upTo(h.Term/2))
			l.act(won)
		}
	}
	switch x := l.rand.IntN(4); {
	case l.Stubborn || x == 0:
		for l.alive(won) { // until it is over
			h.lane.SleepFor(ctx, l.upTo(h.Term/2))
			l.fencedWrite(won)
		}
	case x == 1: // without a word to the store
		cancel()
	case x == 2:
		_ = won.ResignWith(l.ctx, []byte(h.Name))
	default:
		_ = won.Resign(l.ctx)
	}
}

// alive tells whether to go on; it does not ask the clocks unless all do.
func (l *life) alive(won *core.Leadership) bool {
	if l.host.w.plan.Often && won.Check() != nil {
		return false
	}
	return l.ctx.Err() == nil && won.Context().Err() == nil
}

// act is one thing that a leader does.
func (l *life) act(won *core.Leadership) {
	switch x := l.rand.IntN(6); {
	case x == 1:
		l.fencedWrite(won)
	case !l.cfg.ManualRenew && !l.host.w.plan.Contend:
	case x == 0:
		_ = won.SaveCheckpoint(won.Context(), []byte{byte(l.rand.IntN(256))})
	default:
		if l.cfg.ManualRenew || l.rand.IntN(4) == 0 {
			_ = won.Renew(won.Context())
		}
	}
}

// fencedWrite sends a write to the resource, after a while, without a look at Check.
func (l *life) fencedWrite(won *core.Leadership) {
	h := l.host
	token := won.FencingToken()
	reign, known := h.w.judge.reign(won)
	if !known {
		return
	}
	delay := l.upTo(h.Term / 8)
	if l.rand.IntN(4) == 0 {
		delay = l.upTo(2 * h.Term)
	}
	h.w.transport.add()
	h.wire.AfterFunc(delay, func() {
		defer h.w.transport.done()
		h.w.resource.write(h.w, h.number, token, reign)
	})
}
