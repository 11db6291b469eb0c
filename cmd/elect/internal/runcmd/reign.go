package runcmd

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
	"github.com/cloudelect/cloudelect/core"
)

// reign is the time from the win until COMMAND's group is gone. Its methods run on
// one goroutine.
type reign struct {
	*session
	l     *core.Leadership
	guard *guard.Guard
	tty   *terminal

	lastSent guard.Reading    // before the last confirmed write
	kill     <-chan time.Time // when a guard that does not react is taken over from
	killAt   time.Time
	why      guard.Reason  // and what for
	wanting  int           // the signal that COMMAND waits for the terminal with
	killed   bool          // elect has killed the group past the guard
	killSent guard.Reading // what lastSent was then
	tooLate  bool          // and the term was over by then
	looked   guard.Reading
	freezes  freezes
}

// extend tells the guard of the confirmed write with this nonce.
func (r *reign) extend(nonce string) {
	if at, ok := r.session.sent.when(nonce); ok {
		r.lastSent = at
		r.guard.Term(r.term, at)
	}
}

// patience is how long killed processes have to be gone.
const patience = 5 * time.Second

// watch goes between the election, the guard and whoever sends signals, until
// COMMAND's group is gone.
func (r *reign) watch(ctx context.Context) outcome {
	over, done := r.l.Context().Done(), ctx.Done()
	retry := time.NewTicker(time.Second)
	defer retry.Stop()
	clock := time.NewTicker(min(max(r.term/40, time.Millisecond), 500*time.Millisecond))
	defer clock.Stop()
	r.looked = guard.Now()
	for {
		r.look()
		select {
		case report, ok := <-r.guard.Reports():
			switch {
			case !ok:
				return outcome{status: 137, guard: true, remains: !r.guard.TakeOver(patience)}
			case report.Failed != nil:
				return outcome{failed: report.Failed}
			case report.Ended != nil:
				r.noteFreeze() // the first thing heard after one may be the end
				e := report.Ended
				return outcome{status: e.Status, why: e.Why, sent: e.Sent, over: e.Over && (r.tooLate || !r.killed), remains: e.Remains}
			default:
				r.guard.Note(report)
				r.suspended(report.Stopped)
			}
		case nonce := <-r.renewed:
			r.extend(nonce)
		case <-over:
			over = nil
			r.lost()
		case <-done:
			done = nil
			r.end()
		case sig := <-r.signals:
			r.signal(sig)
		case <-retry.C:
			r.suspended(r.wanting)
		case <-clock.C:
		case <-r.kill:
			r.killGroup()
			return outcome{status: 137, why: r.why, sent: r.killSent, over: r.tooLate, remains: !r.guard.TakeOver(patience)}
		}
	}
}

// look looks at the clocks: for a freeze of elect itself, and for a guard that should
// have killed by now and has not, because it is stopped.
func (r *reign) look() {
	now := r.noteFreeze()
	if !r.killed && now.Since(r.lastSent) >= r.term*19/20 {
		r.killGroup()
		r.killAfter(time.Second, guard.ReasonLate) // it may have told what it did
	}
}

// noteFreeze notes that elect was frozen, if it has not looked for long.
func (r *reign) noteFreeze() guard.Reading {
	now := guard.Now()
	if gap := now.Since(r.looked); gap >= r.term/10 {
		r.freezes.note(gap, now)
	}
	r.looked = now
	return now
}

// frozenLong is how long elect was frozen after the write was sent whose term was the
// last that counted, if that alone can have kept it from renewing or nothing else is
// known to have.
func (r *reign) frozenLong(out outcome) time.Duration {
	sent := out.sent
	if sent == (guard.Reading{}) {
		sent = r.lastSent
	}
	frozen := r.freezes.since(sent)
	if frozen < r.term/4 && r.story.failed() != nil {
		return 0
	}
	return frozen
}

// killGroup kills COMMAND's group past the guard, and notes whether that was in time.
func (r *reign) killGroup() {
	r.guard.KillGroup()
	if !r.killed {
		r.killed, r.killSent, r.tooLate = true, r.lastSent, guard.Now().Since(r.lastSent) >= r.term
	}
}

// lost has COMMAND stopped because the reign is over. The guard, which may be
// stopped, is not relied on longer than the term lasts.
func (r *reign) lost() {
	why := context.Cause(r.l.Context())
	if errors.Is(why, core.ErrTermExpired) {
		r.killGroup()
		r.killAfter(time.Second, guard.ReasonLost)
		return
	}
	r.guard.Stop(guard.ReasonLost, r.grace)
	r.killAfter(max(r.term*19/20-guard.Now().Since(r.lastSent), 0), guard.ReasonLost)
}

// end has COMMAND stopped because elect is to end; asked twice, killed. Leadership
// is kept and renewed meanwhile.
func (r *reign) end() {
	r.asked++
	if r.asked > 1 {
		r.guard.Stop(guard.ReasonAsked, 0)
		r.killAfter(time.Second, guard.ReasonAsked)
		return
	}
	r.guard.Stop(guard.ReasonAsked, r.grace)
	r.killAfter(r.grace+patience, guard.ReasonAsked)
}

// killAfter sets when a guard that has not stopped the group is taken over from. A
// later call can only bring that forward.
func (r *reign) killAfter(d time.Duration, why guard.Reason) {
	at := time.Now().Add(d)
	if r.kill == nil || at.Before(r.killAt) {
		r.kill, r.killAt, r.why = time.After(d), at, why
	}
}

func (r *reign) signal(sig os.Signal) {
	if asksToEnd(sig) {
		r.end()
		return
	}
	pass(r.guard, sig)
}
