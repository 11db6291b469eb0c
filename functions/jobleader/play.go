package jobleader

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// turn is a leadership, with or without a slot.
type turn struct {
	ctx        context.Context
	leadership *core.Leadership
	// finish resigns after the work, which returned err, and returns what it made
	// of that.
	finish func(err error) error
}

// play is the whole task.
func (j *job) play() result {
	t, done, err := j.begin()
	held := codeOfElection(err) == ExitNotElected
	switch {
	case t != nil:
		worked := j.lead(t)
		if worked.code != ExitOK || worked.panicked != nil || j.Rest == nil {
			return worked
		}
	case done != nil:
		j.tellSettled(*done)
	case held && j.Rest != nil && j.asksOnce():
	case held && j.LeaveQuietly && sawLeader(err):
		j.tellQuiet(err)
		return result{}
	default:
		return result{code: codeOfElection(err), err: err}
	}
	if j.Rest == nil {
		return result{}
	}
	if stop := j.stopped(); stop != nil {
		return result{code: codeOfElection(stop), err: stop}
	}
	panicked, err := guarded(func() error { return j.Rest(j.asked) })
	stop := j.stopped()
	return result{codeOfWork(err, stop), plainly(err, stop), panicked}
}

// lead works and resigns.
func (j *job) lead(t *turn) result {
	if stop := j.stopped(); stop != nil { // it came with the win
		j.resigning.Store(true)
		return result{code: codeOfElection(stop), err: t.finish(stop)}
	}
	stopWatch := context.AfterFunc(t.leadership.Context(), func() {
		if why := t.leadership.Check(); errors.Is(why, core.ErrLeadershipLost) || errors.Is(why, core.ErrTermExpired) {
			close(j.lost)
		}
	})
	defer stopWatch()
	panicked, err := guarded(func() error { return j.work(t.ctx, t.leadership) })
	if panicked != nil {
		err = errNoReturn
	}
	forestalled := err == nil && !j.Slot.IsZero() && errors.Is(t.leadership.Check(), core.ErrResigned)
	j.resigning.Store(true)
	err = t.finish(err)
	j.resigning.Store(false)
	stop := j.stopped()
	switch {
	case forestalled:
		return result{code: ExitInternal, err: errResigned}
	case errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired):
	case errors.Is(err, schedule.ErrNotRecorded):
		return result{ExitUnavailable, err, panicked}
	case errors.Is(err, core.ErrNotResigned):
		return result{code: ExitOK, err: err} // the term's end does the rest
	}
	return result{codeOfWork(err, stop), plainly(err, stop), panicked}
}

// begin waits for this task's turn. Without a turn, done tells what became of a slot
// that needs nobody any more; otherwise the error says why, and Is core.ErrHeld if
// somebody else is at it.
func (j *job) begin() (t *turn, done *schedule.Result, err error) {
	if !j.Slot.IsZero() {
		return j.beginSlot()
	}
	election := j.election()
	campaign, cancel := context.WithCancelCause(j.reign) // the reign outlives the signal: renewed until the work has stopped
	stop := context.AfterFunc(j.asked, func() { cancel(context.Cause(j.asked)) })
	defer stop()
	var l *core.Leadership
	if election.WaitAtMost > 0 {
		l, err = election.Campaign(campaign)
	} else {
		l, err = election.TryAcquire(campaign)
	}
	if err != nil {
		cancel(nil)
		return nil, nil, j.orAsked(err)
	}
	ctx, release := l.Bind(j.asked)
	return &turn{ctx: ctx, leadership: l, finish: func(worked error) error {
		defer cancel(nil)
		defer release()
		return finish(j, l, worked)
	}}, nil, nil
}

// finish is the end of a reign without a slot.
func finish(j *job, l *core.Leadership, worked error) error {
	over := l.Check()
	if !errors.Is(over, core.ErrLeadershipLost) && !errors.Is(over, core.ErrTermExpired) || errors.Is(worked, over) {
		over = nil
	}
	ctx, cancel := context.WithCancel(j.reign)
	defer cancel()
	timer := j.clock().AfterFunc(j.election().ResignWithin, cancel)
	defer timer.Stop()
	resigned := l.Resign(ctx)
	if worked != nil || over != nil {
		return errors.Join(worked, over) // that the term has to end is the lesser news
	}
	return resigned
}

func (j *job) beginSlot() (t *turn, done *schedule.Result, err error) {
	c := schedule.Config{Election: j.election(), OnFailure: j.OnFailure}
	r, res, err := c.Begin(j.asked, j.Slot)
	switch {
	case r != nil:
		return &turn{ctx: withSlot(r.Context(), r.Slot()), leadership: r.Leadership(), finish: func(worked error) error {
			_, err := r.Finish(j.reign, worked)
			return err
		}}, nil, nil
	case err != nil:
		return nil, nil, j.orAsked(err)
	case res.Outcome == schedule.Running,
		res.Outcome == schedule.Begun && j.Rest != nil && !j.asksOnce(): // waited for in vain: it was killed or failed
		return nil, nil, slotHeldError{res}
	}
	return nil, &res, nil
}

// orAsked prefers the reason why the task was asked to stop.
func (j *job) orAsked(err error) error {
	if stop := j.stopped(); obeyed(err, stop) {
		return stop
	}
	return err
}

// guarded calls f and notes a panic, with where it came from.
func guarded(f func() error) (panicked any, err error) {
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		err = errNoReturn
		defer func() {
			if p := recover(); p != nil {
				panicked = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
		}()
		err = f()
	}()
	<-returned
	return panicked, err
}
