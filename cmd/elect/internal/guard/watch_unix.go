//go:build unix

package guard

import (
	"fmt"
	"syscall"
	"time"
)

// tick is how often a guard with this term looks at the clocks, so that a machine
// that wakes up, or a clock that was set, is noticed that soon.
func tick(term time.Duration) time.Duration {
	return min(max(term/40, time.Millisecond), 50*time.Millisecond)
}

// watch is the guard's main loop, from COMMAND's start until its group is gone.
func (g *process) watch() End {
	ticker := time.NewTicker(tick(g.term.length))
	defer ticker.Stop()
	g.hear() // what came together with the first order
	for {
		select {
		case <-g.arrived:
			g.hear()
		case w, ok := <-g.waits:
			g.note(w, ok)
		case s := <-g.signals:
			if s == syscall.SIGTERM { // for us alone, from somebody who means the whole
				g.stop(ReasonAsked, time.Minute)
			}
		case <-ticker.C:
		}
		g.look()
		if g.exited && groupGone(g.pgid) {
			return End{Status: g.status, Why: g.why, Sent: g.sent, Over: g.term.left <= 0}
		}
		// After the term there is nothing left to save: let elect know. Looks are counted,
		// too, for a guard that was frozen has only just begun to kill.
		if g.kills > deadLooks && g.term.left < -g.term.length {
			return End{Status: g.status, Why: g.why, Sent: g.sent, Over: true, Remains: true}
		}
	}
}

// look lets the time pass, and does what is due: by everything that elect has said.
func (g *process) look() {
	if g.pass(); g.term.stopDue() {
		g.hear()
		g.pass() // reading takes time, too
	}
	switch {
	case g.term.killDue(), g.stopping && g.killIn <= 0:
		g.kill()
	case g.term.stopDue() && !g.stopping:
		g.stop(ReasonLate, g.term.left)
	}
}

// pass lets the time pass.
func (g *process) pass() {
	now := Now()
	g.killIn -= now.Since(g.last)
	g.last = now
	g.term.advance(now)
}

// hear obeys the orders that have arrived.
func (g *process) hear() {
	for {
		o, ok := g.orders.take()
		if !ok {
			break
		}
		g.obey(o)
	}
	if g.orders.ended && !g.orphan {
		g.orphan, g.arrived = true, nil
		g.stop(ReasonOrphaned, g.term.left)
	}
}

func (g *process) obey(o order) {
	switch {
	case o.At != nil:
		g.pass()
		g.term.renew(g.last, *o.At, o.Term)
	case o.Stop != "":
		g.stop(o.Stop, o.Grace)
	case o.Signal != 0:
		signalGroup(g.pgid, syscall.Signal(o.Signal))
	}
}

func (g *process) note(w wait, ok bool) {
	switch {
	case !ok:
		g.waits = nil
	case w.pid != g.pgid:
	case w.status.Stopped():
		g.report(Report{Stopped: int(w.status.StopSignal())})
	default:
		g.exited, g.status = true, statusOf(w.status)
		// Whoever COMMAND has left behind in its group does not outlive it.
		if !groupGone(g.pgid) {
			g.stop(g.why, leftoverGrace)
		}
	}
}

// leftoverGrace is how long processes have that COMMAND has left behind.
const leftoverGrace = 5 * time.Second

// stop asks the group to end, and sets when it is made to. Asked again, it can
// only come sooner.
func (g *process) stop(why Reason, grace time.Duration) {
	if g.stopping {
		g.killIn = min(g.killIn, grace)
		return
	}
	g.stopping, g.killIn = true, grace
	if !g.exited {
		g.because(why)
	}
	signalGroup(g.pgid, syscall.SIGTERM)
	signalGroup(g.pgid, syscall.SIGCONT) // a stopped process cannot heed the first
}

// deadLooks is after how many looks at least processes that were killed and are still there
// are taken for such that cannot be: a term's, or 2 s.
const deadLooks = 40

func (g *process) kill() {
	if !g.killing && !g.exited {
		g.because(ReasonLate)
	}
	g.stopping, g.killing = true, true
	g.kills++
	signalGroup(g.pgid, syscall.SIGKILL)
}

// because notes the first reason, and says so where nobody else can.
func (g *process) because(why Reason) {
	if g.why != ReasonNone {
		return
	}
	g.why, g.sent = why, g.term.sent
	switch why {
	case ReasonOrphaned:
		g.say("elect is gone without having resigned; stopping the command before the term ends")
	case ReasonLate:
		g.say("no renewal in time (elect is stopped, or the store does not answer); stopping the command before the term ends")
	}
}

// say prints a line without waiting for whoever reads it.
func (g *process) say(line string) {
	done := make(chan struct{})
	g.said = done
	go func() {
		defer close(done)
		fmt.Fprintf(g.stderr, "elect: guard: %s\n", line)
	}()
}

// report tells elect. An elect that is gone does not hear it.
func (g *process) report(r Report) { _ = g.reports.Encode(r) }
