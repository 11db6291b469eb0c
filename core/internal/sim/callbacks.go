package sim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// pairing checks that callbacks come in pairs and in order.
type pairing struct {
	mu               sync.Mutex
	elected, ousted  int
	serving, ousting int // that have not returned
	ctx              context.Context
}

func (p *pairing) enter(l *life, ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.elected++
	p.serving++
	p.ctx = ctx
	if p.elected != p.ousted+1 && p.elected != p.ousted || p.serving > 1 {
		l.broken("OnElected for the %d. time, after %d OnOusting, with %d still running", p.elected, p.ousted, p.serving-1)
	}
}

func (p *pairing) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serving--
}

func (p *pairing) oust(l *life) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ousted++
	p.ousting++
	switch {
	case p.ousting > 1:
		l.broken("OnOusting runs twice at a time")
	case p.ctx != nil && p.elected == p.ousted && p.ctx.Err() == nil:
		l.broken("OnOusting before the context of OnElected has ended")
	}
}

func (p *pairing) leaveOusting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ousting--
}

func (p *pairing) returned(l *life) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.elected != p.ousted || p.serving != 0 || p.ousting != 0 {
		l.broken("Acquire has returned after %d OnElected and %d OnOusting, with %d and %d running", p.elected, p.ousted, p.serving, p.ousting)
	}
}

func (l *life) broken(format string, args ...any) {
	l.host.w.judge.violated(badCallbacks, l.host.number, format, args...)
}

// acquire is a service with callbacks.
func (l *life) acquire() {
	var pair pairing
	h := l.host
	slow := func(ignores bool) { // a callback that takes its time, and ends with the process
		if l.dead.Load() {
			return
		}
		if ignores {
			h.w.counts.add("fault callback ignores its context", 1)
		}
		h.lane.SleepFor(l.gone, l.upTo(h.Term))
	}
	l.cfg.OnElected = func(ctx context.Context, _ *core.TimeView) {
		pair.enter(l, ctx)
		defer pair.leave()
		won, ok := core.FromContext(ctx)
		if !ok {
			l.broken("the context of OnElected has no Leadership")
			return
		}
		h.w.judge.won(l, won)
		for n, most := 0, 1+l.rand.IntN(20); (n < most || l.Stubborn) && l.alive(won); n++ {
			h.lane.SleepFor(ctx, l.upTo(h.Term/2))
			l.act(won)
		}
		switch l.rand.IntN(6) {
		case 0:
			slow(true)
		case 1: // steps down by itself
			if !l.Stubborn {
				_ = won.Resign(l.ctx)
			}
		}
	}
	if l.rand.IntN(4) > 0 {
		own := l.rand.IntN(3) == 0
		l.cfg.OnOusting = func(context.Context) {
			pair.oust(l)
			defer pair.leaveOusting()
			if own && !l.dead.Load() {
				h.w.counts.add("fault callback slow", 1)
				h.lane.SleepFor(l.gone, h.Term/3)
			}
		}
	} else {
		l.cfg.OnOusting = func(context.Context) { pair.oust(l); pair.leaveOusting() }
	}
	for l.ctx.Err() == nil {
		_ = l.cfg.Acquire(l.ctx) // ctx's, or the store's when it is broken
		pair.returned(l)
		l.pause(l.upTo(h.Term / 8))
	}
}

var errWork = errors.New("sim: the work has failed")

// runAsLeader is a job that runs where it may, and panics at times.
func (l *life) runAsLeader() {
	for l.ctx.Err() == nil {
		l.runOnce()
		l.pause(l.upTo(l.host.Term / 2))
	}
}

func (l *life) runOnce() {
	h := l.host
	defer func() {
		if r := recover(); r != nil && r != errWork { // not ours
			panic(r)
		}
	}()
	ctx, cancel := l.deadline()
	defer cancel()
	_ = l.cfg.RunAsLeader(ctx, func(ctx context.Context, won *core.Leadership) error {
		h.w.judge.won(l, won)
		for n, most := 0, 1+l.rand.IntN(20); (n < most || l.Stubborn) && l.alive(won); n++ {
			h.lane.SleepFor(ctx, l.upTo(h.Term/2))
			l.act(won)
		}
		switch l.rand.IntN(5) {
		case 0:
			h.w.counts.add("fault callback panics", 1)
			panic(errWork)
		case 1:
			h.w.counts.add("fault callback ignores its context", 1)
			h.lane.SleepFor(l.gone, l.upTo(h.Term))
		case 2:
			return errWork
		}
		return nil
	})
}

// listen hears everything, slowly at times.
func (l *life) listen() {
	h := l.host
	var mu sync.Mutex
	begun, ended := map[int64]bool{}, map[int64]bool{}
	l.cfg.OnEvent = func(e core.Event) {
		mu.Lock()
		defer mu.Unlock()
		token := e.Entry.FencingToken
		switch e.Kind {
		case core.EventElected:
			if begun[token] {
				l.broken("the reign with the token %d begins twice", token)
			}
			begun[token] = true
		case core.EventEnded:
			if !begun[token] || ended[token] {
				l.broken("the reign with the token %d ends that does not last", token)
			}
			ended[token] = true
		}
		if e.LeaderID != h.Name {
			l.broken("an event of %q came to %q", e.LeaderID, h.Name)
		}
	}
	l.cfg.LeaderChanged = func(_ context.Context, e entry.RaceEntry) {
		if mix(l.Seed^uint64(e.FencingToken))%4 == 0 && !l.dead.Load() {
			h.w.counts.add("fault callback slow", 1)
			h.lane.SleepFor(l.gone, time.Duration(mix(l.Seed)%uint64(h.Term)))
		}
	}
}
