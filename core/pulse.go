package core

import (
	"context"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"
)

// pulse keeps a reign alive and ends it in time. It is a timer, not a
// goroutine. Every beat first looks at the clocks, which ends the reign at the
// end of its term and notices a freeze, then sets the timer for the next beat,
// and only then renews, if that is due: a renewal that hangs delays no beat.
// What ends the reign does no I/O and takes no lock that I/O holds.
type pulse struct {
	mu      sync.Mutex // not held over I/O
	timer   clocks.StopTimer
	beat    func()
	running sync.WaitGroup // one per pending timer and per running beat
	stopped bool
	// renewing: a beat is renewing.
	renewing bool
	// failures counts the renewals in a row that failed, and retry is when the
	// next one is due after that, on the elapsed scale.
	failures int
	retry    time.Duration
}

func (p *pulse) start(l *Leadership) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat = func() { p.once(l) }
	p.arm(l)
}

// follow ends the reign with its context at once, and not at the next beat:
// where nobody of ours waits for that context.
func (p *pulse) follow(l *Leadership) {
	p.running.Add(1)
	context.AfterFunc(l.ctx, func() {
		defer p.running.Done()
		_ = l.Check()
		p.halt()
	})
}

// once is one beat.
func (p *pulse) once(l *Leadership) {
	defer p.running.Done()
	if l.Check() != nil {
		return
	}
	if p.next(l) {
		// The request ends with the reign anyway; apart from that it is nobody's.
		// A checkpoint that is being saved meanwhile is a renewal, too.
		err := l.renewIf(context.WithoutCancel(l.ctx), func() bool { return l.renewalDue() <= 0 })
		p.renewed(l, err)
	}
}

// next sets the timer and tells whether this beat is to renew.
func (p *pulse) next(l *Leadership) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	due := !p.renewing && p.untilDue(l) <= 0
	p.renewing = p.renewing || due
	p.arm(l)
	return due
}

// renewed notes how a renewal went, and sets the timer for what follows.
func (p *pulse) renewed(l *Leadership, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.renewing = false
	if err == nil {
		p.failures = 0
	} else {
		now := l.c.sample()
		p.retry = now.elapsed + l.c.retryWithin(p.failures, l.reignLeft(now))
		p.failures++
	}
	if p.stopped {
		return
	}
	if p.timer.Stop() {
		p.running.Done()
		p.arm(l)
	} // else a beat is under way, and arms for itself
}

// untilDue is how long it takes until the next renewal; never with ManualRenew.
func (p *pulse) untilDue(l *Leadership) time.Duration {
	if l.c.ManualRenew {
		return never
	}
	due := l.renewalDue()
	if p.failures > 0 {
		due = max(due, p.retry-l.c.sample().elapsed)
	}
	return due
}

// renewalDue is how long it is until RenewInterval has passed since the last
// confirmed write was sent.
func (l *Leadership) renewalDue() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reign.sent.elapsed + l.c.RenewInterval - l.c.sample().elapsed
}

// arm sets the timer for the next beat. p.mu is held.
func (p *pulse) arm(l *Leadership) {
	l.mu.Lock()
	wait := min(l.reign.left(l.c.sample()), l.c.TermLength/8)
	l.mu.Unlock()
	if !p.renewing {
		wait = min(wait, p.untilDue(l))
	}
	p.running.Add(1)
	p.timer = l.c.Clock.AfterFunc(max(wait, 1), p.beat)
}

// halt makes sure that no beat is pending.
func (p *pulse) halt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped && p.timer.Stop() {
		p.running.Done()
	}
	p.stopped = true
}

// wait halts, and waits for what runs.
func (p *pulse) wait() {
	p.halt()
	p.running.Wait()
}

// pause waits for d on the clock, or until ctx ends: then it returns false.
func pause(ctx context.Context, clock clocks.Clock, d time.Duration) bool {
	if d > 0 {
		clock.SleepFor(ctx, d)
	}
	return ctx.Err() == nil // some clocks' SleepFor says true on an ended context
}
