package probe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/probe"
)

type writeFunc func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error)
type readFunc func(ctx context.Context) (*entry.RaceEntry, error)

// handle is a handle on a memory decider with parts replaced.
type handle struct {
	*memory.Decider
	n     int // the record's how-manieth
	write writeFunc
	read  readFunc
}

func (h *handle) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	time.Sleep(time.Millisecond) // the network: requests overlap
	if h.write == nil {
		return h.Decider.WriteEntry(ctx, e)
	}
	return h.write(ctx, e)
}

func (h *handle) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	time.Sleep(time.Millisecond)
	if h.read == nil {
		return h.Decider.ReadCurrent(ctx)
	}
	return h.read(ctx)
}

// store is where scratch records are kept.
type store struct {
	interval time.Duration
	clock    func() clocks.Clock        // nil: the true time
	change   func(r *record, h *handle) // puts the mistake in; nil: none
	raw      bool                       // Raw is there

	undeletable bool

	mu      sync.Mutex
	records []*record
	started time.Time
}

// record is one scratch record, and what its handles share.
type record struct {
	*memory.Decider
	store   *store
	handles int
	mu      sync.Mutex
	free    map[string]any // for mutants
}

func (s *store) target() probe.Target {
	s.started = time.Now()
	clock := clocks.DefaultClock()
	if s.clock != nil {
		clock = s.clock()
	}
	return probe.Target{MinWriteInterval: s.interval, Scratch: func(suffix string) probe.Record {
		r := &record{Decider: memory.NewDecider(), store: s, free: map[string]any{}}
		r.SetClock(clock)
		r.SetLimit(s.interval)
		s.mu.Lock()
		s.records = append(s.records, r)
		s.mu.Unlock()
		rec := probe.Record{
			Name: "mem://" + suffix,
			Open: func() core.RaceDecider {
				r.handles++
				h := &handle{Decider: r.Handle(), n: r.handles}
				if s.change != nil {
					s.change(r, h)
				}
				return h
			},
			Clean: func(context.Context) error {
				if s.undeletable {
					return fmt.Errorf("403: %w", core.ErrBroken)
				}
				r.Delete()
				return nil
			},
		}
		if s.raw {
			rec.Raw = func(context.Context) ([]byte, error) {
				e, ok := r.Stored()
				if !ok {
					return nil, nil
				}
				if f := r.free["raw"]; f != nil {
					return f.([]byte), nil
				}
				return entry.Encode(&e)
			}
		}
		return rec
	}}
}

// kept counts the records that are still there.
func (s *store) kept() (n int) {
	for _, r := range s.records {
		if _, ok := r.Stored(); ok {
			n++
		}
	}
	return n
}

// run probes in a bubble, where waiting costs nothing.
func run(t *testing.T, s *store, opts *probe.Options) (report core.ProbeReport, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		target := s.target()
		var err error
		if report, err = probe.Run(t.Context(), target, opts); err != nil {
			t.Fatal(err)
		}
		took = time.Since(s.started)
	})
	return report, took
}

func check(t *testing.T, report core.ProbeReport, name string) core.ProbeCheck {
	t.Helper()
	for _, c := range report.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %q in %+v", name, report.Checks)
	return core.ProbeCheck{}
}

// refusals are the checks that a report fails for good, and those it left open
// after trying.
func refusals(report core.ProbeReport) (failed, open []string) {
	for _, c := range report.Checks {
		switch {
		case c.Passed || c.Optional || c.Advice == "":
		case c.Inconclusive:
			open = append(open, c.Name)
		default:
			failed = append(failed, c.Name)
		}
	}
	return failed, open
}

func isLost(err error) bool {
	var lost core.FailedAcquisitionErr
	return errors.As(err, &lost)
}

// force stores e whatever is there.
func force(ctx context.Context, d *memory.Decider, e *entry.RaceEntry) (entry.LeaderToken, error) {
	cur, err := d.ReadCurrent(ctx)
	if err != nil {
		return nil, err
	}
	forced := e.Clone()
	forced.Token = cur.Token
	return d.WriteEntry(ctx, &forced)
}

func isCreation(e *entry.RaceEntry) bool { return fmt.Sprint(e.Token) == "absent" }
