package jobleader

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/cloudelect/cloudelect/core"
)

// Work is what only the leader does. ctx ends when a signal comes or leadership
// is lost, with the cause. What nobody may do twice is to be preceded by l.Check,
// or to carry l.FencingToken.
type Work func(ctx context.Context, l *core.Leadership) error

// Run campaigns, works, resigns and returns the exit code: see the package
// comment. It returns no later than GracePeriod after a signal, and at once after
// a second one. ctx may end it like a signal.
//
// If the work ignores its context for longer than that, Run returns while it
// is still running, and without having resigned: exit then, that ends the work. A
// panic of the work goes on in Run.
func Run(ctx context.Context, cfg Config, work Work) int {
	signals, stopSignals := cfg.signals()
	defer stopSignals()
	if err := cfg.validate(); err != nil {
		return cfg.leave(ExitConfig, err)
	}
	if work == nil {
		return cfg.leave(ExitConfig, fmt.Errorf("%w: there is no work to run", core.ErrInvalidConfig))
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
}

// supervise waits for the task, and lets it go when it takes too long to stop.
func (j *job) supervise(ended <-chan result, signals <-chan os.Signal, stop context.CancelCauseFunc) int {
	var over <-chan struct{} // closed when the grace period is over
	asked, lost := j.asked.Done(), j.lost
	code, signalled := ExitLost, false
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
			if signalled {
				return j.leave(sig.code(), fmt.Errorf("jobleader: a second signal, %v: nothing was waited for", s))
			}
			signalled = true
			stop(sig)
			continue
		case <-asked:
			asked, grace = nil, true
			code = codeOfElection(context.Cause(j.asked))
		case <-lost:
			lost, grace = nil, true
		case <-over:
			return j.leave(code, fmt.Errorf("jobleader: the task did not stop within %v, and was left to the end of the process: %w", j.grace(), j.why()))
		}
		if grace && over == nil {
			ch := make(chan struct{})
			timer := j.clock().AfterFunc(j.grace(), func() { close(ch) })
			defer timer.Stop()
			over = ch
		}
	}
}

// why is what a task that did not stop was asked to stop for.
func (j *job) why() error {
	if cause := context.Cause(j.asked); cause != nil {
		return cause
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
