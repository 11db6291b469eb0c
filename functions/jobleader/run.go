package jobleader

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// Work is what only the leader does. ctx ends when a signal comes or leadership
// is lost, with the cause. What nobody may do twice is to be preceded by l.Check,
// or to carry l.FencingToken. It must not resign: Run does, by the write that also
// records the Slot.
type Work func(ctx context.Context, l *core.Leadership) error

// Run campaigns, works, resigns and returns the exit code: see the package
// comment. It returns no later than GracePeriod after a signal, and at once after
// a second one, if that comes a second or more after the first: until then signals count
// once, because who stops a process often signals it and then its group. When ctx
// ends the task is asked to stop, as by SIGTERM.
//
// If the work ignores its context for longer than that, Run returns while it
// is still running, and without having resigned: exit then, that ends the work. A
// panic of the work goes on in Run.
func Run(ctx context.Context, cfg Config, work Work) int {
	signals, stopSignals := cfg.signals()
	defer stopSignals()
	if err := cfg.misuse(ctx, work); err != nil {
		return cfg.leave(ExitConfig, err)
	}
	asked, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j := &job{Config: cfg, work: work, asked: asked, reign: context.WithoutCancel(ctx), lost: make(chan struct{}), notes: make(chan note, 1)}
	ended := make(chan result, 1)
	go func() { ended <- j.play() }()
	return j.supervise(ended, signals, stop)
}

// result is how a task ended.
type result struct {
	code     int
	err      error
	panicked any
}

// job is one call of Run.
type job struct {
	Config
	work  Work
	asked context.Context // ends when the task is asked to stop
	reign context.Context // does not: the election is renewed until the work has stopped
	lost  chan struct{}   // closed when leadership was lost while the work ran
	notes chan note       // the one line that play may have to say without an error

	resigning atomic.Bool // the work has stopped, the resignation is under way
}

// sameSignal is for how long signals count as one.
const sameSignal = time.Second

// supervise waits for the task, and lets it go when it takes too long to stop.
func (j *job) supervise(ended <-chan result, signals <-chan os.Signal, stop context.CancelCauseFunc) int {
	var over <-chan struct{} // closed when the grace period is over
	asked, lost := j.asked.Done(), j.lost
	code, signalled := ExitLost, time.Time{}
	for {
		grace := false
		select {
		case n := <-j.notes:
			j.say(n)
			continue
		case r := <-ended:
			select {
			case n := <-j.notes:
				j.say(n)
			default:
			}
			if r.panicked != nil {
				panic(r.panicked)
			}
			return j.leave(r.code, r.err)
		case s, open := <-signals:
			if !open {
				signals = nil
				continue
			}
			sig := signalError{s}
			now := j.clock().Now()
			if signalled.IsZero() {
				signalled = now
				stop(sig)
			} else if since := now.Sub(signalled); since < 0 || since >= sameSignal {
				return j.leave(sig.code(), fmt.Errorf("jobleader: a second signal, %v, a second or more after the first: nothing was waited for", s))
			}
			continue
		case <-asked:
			asked, grace = nil, true
			code = codeOfElection(j.stopped())
		case <-lost:
			lost, grace = nil, true
		case <-over:
			return j.leave(code, j.overdue())
		}
		if grace && over == nil {
			ch := make(chan struct{})
			timer := j.clock().AfterFunc(j.grace(), func() { close(ch) })
			defer timer.Stop()
			over = ch
		}
	}
}

// overdue says what was not done when the grace period was over.
func (j *job) overdue() error {
	switch {
	case !j.resigning.Load():
		return fmt.Errorf("jobleader: the task did not stop within %v, and was left to the end of the process: %w", j.grace(), j.why())
	case j.Slot.IsZero():
		return fmt.Errorf("jobleader: the work had stopped, but the store did not confirm within %v that it has resigned: the next leader waits for the end of the term: %w", j.grace(), j.why())
	}
	return fmt.Errorf("jobleader: the work had stopped, but the store did not confirm within %v that it has resigned: the slot may not be recorded, and the next leader waits for the end of the term: %w", j.grace(), j.why())
}

// why is what a task that did not stop was asked to stop for.
func (j *job) why() error {
	if stop := j.stopped(); stop != nil {
		return stop
	}
	return core.ErrLeadershipLost
}

// leave prints why, and returns code.
func (c Config) leave(code int, err error) int {
	if err != nil {
		fmt.Fprintf(c.stderr(), "jobleader: %s (exit code %d)\n",
			strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", "; "), "jobleader: "), code)
	}
	return code
}
