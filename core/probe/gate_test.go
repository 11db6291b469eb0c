package probe_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/probe"
)

var (
	usable   = core.ProbeReport{Usable: true}
	unusable = core.ProbeReport{Checks: []core.ProbeCheck{{Name: "a condition is honoured", Detail: "it is not", Advice: "go away"}}}
	vague    = core.ProbeReport{Checks: []core.ProbeCheck{{Name: "a condition is honoured", Inconclusive: true, Detail: "429", Advice: "again"}}}
)

// taking is a probe that takes its time and counts its runs.
func taking(d time.Duration, runs *int, reports ...core.ProbeReport) func(context.Context) (core.ProbeReport, error) {
	return func(ctx context.Context) (core.ProbeReport, error) {
		report := reports[min(*runs, len(reports)-1)]
		*runs++
		select {
		case <-time.After(d):
			return report, nil
		case <-ctx.Done():
			return core.ProbeReport{}, ctx.Err()
		}
	}
}

func TestGateVerdicts(t *testing.T) {
	for _, c := range []struct {
		name    string
		reports []core.ProbeReport
		broken  []bool // what the calls one after the other say; nil error: see pass
		pass    []bool
		runs    int
	}{
		{"usable", []core.ProbeReport{usable, unusable}, []bool{false, false}, []bool{true, true}, 1},
		{"unusable", []core.ProbeReport{unusable, usable}, []bool{true, true}, []bool{false, false}, 1},
		{"not proved at first", []core.ProbeReport{vague, usable}, []bool{false, false, false}, []bool{false, true, true}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var gate probe.Gate
				runs := 0
				for i := range c.pass {
					var wg sync.WaitGroup
					for range 5 { // together
						wg.Go(func() {
							err := gate.Pass(t.Context(), taking(time.Second, &runs, c.reports...))
							if (err == nil) != c.pass[i] || errors.Is(err, core.ErrBroken) != c.broken[i] {
								t.Errorf("call %d: %v", i, err)
							}
							if err != nil && !strings.Contains(err.Error(), "a condition is honoured") {
								t.Errorf("the error does not name the check: %v", err)
							}
						})
					}
					wg.Wait()
				}
				if runs != c.runs {
					t.Errorf("%d probes, want %d", runs, c.runs)
				}
			})
		})
	}
}

// TestGateAndContexts: a probe outlives deadlines, and ends with a cancellation.
func TestGateAndContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gate probe.Gate
		runs := 0
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := make(chan error, 1)
		go func() { began <- gate.Pass(hurried, taking(5*time.Second, &runs, usable)) }()
		synctest.Wait()
		start := time.Now()
		if err := gate.Pass(hurried, nil); err == nil || errors.Is(err, core.ErrBroken) || time.Since(start) != time.Second {
			t.Errorf("who waits: %v after %v", err, time.Since(start))
		}
		if err := <-began; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who has begun it, and whose time is over: %v", err)
		}
		if err := gate.Pass(hurried, nil); err == nil {
			t.Error("passed with a context that has ended")
		}
		if err := gate.Pass(t.Context(), nil); err != nil || runs != 1 {
			t.Errorf("later: %v, %d probes", err, runs)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var gate probe.Gate
		runs := 0
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(core.ErrBroken) })
		start := time.Now()
		if err := gate.Pass(ctx, taking(time.Hour, &runs, usable)); err == nil || errors.Is(err, core.ErrBroken) || time.Since(start) > time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := gate.Pass(t.Context(), taking(0, &runs, usable)); err != nil || runs != 2 {
			t.Errorf("later: %v, %d probes", err, runs)
		}
	})
}

// guarded is a decider with ProbeFirst.
type guarded struct {
	*memory.Decider
	gate  probe.Gate
	probe func(context.Context) (core.ProbeReport, error)
}

func (g *guarded) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if err := g.gate.Pass(ctx, g.probe); err != nil {
		return nil, err
	}
	return g.Decider.WriteEntry(ctx, e)
}

// TestGateInACampaign: an election gives a write less time than a probe takes,
// and is won all the same; a bad store ends the campaign before anything is written.
func TestGateInACampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		d := &guarded{Decider: memory.NewDecider(), probe: taking(9*time.Second, &runs, usable)}
		l, err := core.Config{LeaderID: "a", Decider: d}.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Resign(t.Context()); err != nil || runs != 1 {
			t.Errorf("%v, %d probes", err, runs)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		d := &guarded{Decider: memory.NewDecider(), probe: taking(9*time.Second, &runs, unusable)}
		_, err := core.Config{LeaderID: "a", Decider: d}.Campaign(t.Context())
		if !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "a condition is honoured") {
			t.Errorf("%v", err)
		}
		if _, writes := d.Requests(); writes != 0 || runs != 1 {
			t.Errorf("%d writes, %d probes", writes, runs)
		}
	})
}
