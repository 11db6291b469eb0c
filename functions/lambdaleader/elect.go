package lambdaleader

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// resume returns the leadership that an earlier invocation has left, or nil. Both
// clocks are asked: a sandbox may have been frozen since.
func (l *Leader) resume(ctx context.Context, room time.Duration) *tenure {
	t := l.kept
	if t == nil {
		return nil
	}
	if t.Check() == nil && t.term-t.TimeLeft() >= t.interval {
		// Whatever comes of it is in the leadership: one that could not be renewed
		// lasts until its term's end, and is tried again while the handler runs.
		ctx, cancel := l.clock.ContextWithTimeout(ctx, min(t.term/4, room/2))
		_ = t.Renew(ctx)
		cancel()
	}
	if over := t.Check(); over != nil {
		// No resignation: the next attempt takes over its own ended reign.
		l.kept = nil
		t.abandon(over)
		return nil
	}
	return t
}

// elect stands for election until it wins, or until the wait is over.
func (l *Leader) elect(called, working context.Context, until time.Time) (*tenure, error) {
	var latest *FollowerError
	for {
		w, wait := l.window(called), time.Duration(0)
		if l.opts.Wait > 0 {
			// A wait is cut in halves of the time left. Each has the term that fits
			// after it, and a long wait need not begin with a short one.
			wait = max(min(until.Sub(l.clock.Now()), w.room()/2), 0)
		}
		if latest != nil && wait == 0 {
			return nil, latest
		}
		c, err := l.candidacy(w, wait)
		if err != nil && latest != nil {
			return nil, latest
		} else if err != nil {
			return nil, err
		}
		t, err := l.attempt(called, working, c, w.attempt(c.TermLength))
		held, isHeld := follower(err)
		if !isHeld {
			return t, err
		}
		if latest = held; l.opts.Wait == 0 {
			return nil, latest
		}
	}
}

// candidacy is the Config of one campaign, which fits the time left, or says
// that none does.
func (l *Leader) candidacy(w window, wait time.Duration) (core.Config, error) {
	c := l.config
	c.LeaderID, c.WaitAtMost = l.LeaderID(), wait
	c.TermLength = w.term(c.TermLength, wait)
	if c.MaxClockSkew == 0 { // cutting a term does not make clocks agree
		c.MaxClockSkew = min(time.Second, l.config.TermLength/10, c.TermLength/2)
	}
	c.RenewInterval = min(c.RenewInterval, c.TermLength/2)
	if c.TermLength < max(2*c.MaxClockSkew, time.Millisecond) || w.attempt(c.TermLength) <= 0 {
		return c, fmt.Errorf("%w: it is %v away, which is too short for a term and for MaxClockSkew %v: give the function a longer timeout",
			ErrNoTime, w.left.Round(time.Millisecond), c.MaxClockSkew)
	}
	return c, nil
}

// attempt campaigns once, for within at most. An answer of core's that somebody
// else leads is returned as it is.
func (l *Leader) attempt(called, working context.Context, c core.Config, within time.Duration) (*tenure, error) {
	t := &tenure{term: c.TermLength, interval: cmp.Or(c.RenewInterval, c.TermLength/3)}
	if limit, ok := c.Decider.(core.WriteLimiter); ok {
		t.interval = max(t.interval, limit.MinWriteInterval())
	}
	// What ends the invocation does not end the reign: the handler may still be at
	// work, and its Check has to tell the truth.
	below, abandon := context.WithCancelCause(context.WithoutCancel(called))
	t.abandon = abandon
	campaign := c.Campaign
	if c.WaitAtMost == 0 {
		campaign = c.TryAcquire
	}
	won, err := inTime(l, working, within, t.abandon, func() (*core.Leadership, error) { return campaign(below) })
	if err != nil {
		cause := context.Cause(below)
		t.abandon(err)
		if _, held := follower(err); held {
			return nil, err
		}
		if cause != nil {
			return nil, fmt.Errorf("lambdaleader: no attempt came to an end: %w: %w", cause, err)
		}
		return nil, fmt.Errorf("lambdaleader: nobody is known to lead, and nothing was done: %w", err)
	}
	t.Leadership = won
	if l.opts.Keep {
		l.kept = t
	}
	return t, nil
}

// inTime calls campaign, and gives it up through abandon when it has lasted for
// within or working has ended. Neither ends what was won before that.
func inTime(l *Leader, working context.Context, within time.Duration, abandon context.CancelCauseFunc, campaign func() (*core.Leadership, error)) (*core.Leadership, error) {
	if within < forever/2 {
		timer := l.clock.AfterFunc(within, func() { abandon(ErrNoTime) })
		defer timer.Stop()
	}
	stop := context.AfterFunc(working, func() { abandon(context.Cause(working)) })
	defer stop()
	return campaign()
}
