package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cloudelect/cloudelect/core"
)

// Gate keeps a decider from writing to a store that was not probed, for
// Options.ProbeFirst. The zero Gate is ready to use; it must not be copied.
type Gate struct {
	mu      sync.Mutex
	decided bool
	verdict error    // when decided
	running *attempt // the probe under way; nil: none
}

// attempt is one probe that others wait for.
type attempt struct {
	done chan struct{}
	err  error
}

// Pass returns nil once probe has found the store usable. An error that Is
// core.ErrBroken says that it must not be used, and names the checks that failed.
// Either is final. Any other error is no verdict, and the next call probes again.
//
// One probe runs at a time, in the call that began it; others wait for it, or until
// their ctx ends. A probe takes longer than an election gives to a request. So it
// outlives the deadline of the call that began it, but no cancellation: a later call
// finds the verdict. When ctx has ended Pass never returns nil.
func (g *Gate) Pass(ctx context.Context, probe func(context.Context) (core.ProbeReport, error)) error {
	if ctx.Err() != nil {
		return fmt.Errorf("probe: not sent: %w", ended(ctx))
	}
	g.mu.Lock()
	if g.decided {
		defer g.mu.Unlock()
		return g.verdict
	}
	a, mine := g.running, false
	if a == nil {
		a, mine = &attempt{done: make(chan struct{})}, true
		g.running = a
	}
	g.mu.Unlock()
	if mine {
		g.run(ctx, a, probe)
	}
	select {
	case <-a.done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return fmt.Errorf("probe: not sent: the store was still being probed: %w", ended(ctx))
	}
	return a.err
}

// run probes, and tells everybody who waits.
func (g *Gate) run(ctx context.Context, a *attempt, probe func(context.Context) (core.ProbeReport, error)) {
	a.err = errors.New("probe: the probe did not return")
	defer func() { // also if it panics, or nobody would ever be let in
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running = nil
		if a.err == nil || errors.Is(a.err, core.ErrBroken) {
			g.decided, g.verdict = true, a.err
		}
		close(a.done)
	}()
	probing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
			cancel(cause)
		}
	})()
	report, err := probe(probing)
	if err == nil {
		err = Verdict(report)
	}
	a.err = err
}

// Verdict is nil for a usable store. An error that Is core.ErrBroken names the
// checks that failed, what was seen and what to do. Any other error names
// those that came to no conclusion: probe again.
func Verdict(report core.ProbeReport) error {
	if report.Usable {
		return nil
	}
	var failed, open []string
	for _, c := range report.Checks {
		switch {
		case refused(c):
			failed = append(failed, fmt.Sprintf("%s: %s: %s", c.Name, c.Detail, c.Advice))
		case !c.Passed && !c.Optional && c.Advice != "":
			open = append(open, fmt.Sprintf("%s: %s", c.Name, c.Detail))
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("probe: %w: %s", core.ErrBroken, strings.Join(failed, "; "))
	}
	return fmt.Errorf("probe: it is not proved that the store can carry elections: %s: %s", strings.Join(open, "; "), adviceUnclear)
}
