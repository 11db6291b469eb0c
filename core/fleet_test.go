package core_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// slowStore answers each request after a while, like a store over a network.
type slowStore struct {
	core.RaceDecider
	latency time.Duration
}

func (s slowStore) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	time.Sleep(s.latency)
	return s.RaceDecider.WriteEntry(ctx, e)
}

func (s slowStore) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	time.Sleep(s.latency)
	return s.RaceDecider.ReadCurrent(ctx)
}

// fleet is many elections that one process leads, each with a callback of the
// user's that waits for the end.
type fleet struct {
	leading, ended atomic.Int64
	allLead        chan struct{}
	ctx            context.Context
	cancel         context.CancelFunc
	configs        []core.Config
	done           sync.WaitGroup
}

// newFleet makes n Configs with a store each. Nothing runs yet.
func newFleet(n int, latency, term time.Duration) *fleet {
	ctx, cancel := context.WithCancel(context.Background())
	f := &fleet{ctx: ctx, cancel: cancel, allLead: make(chan struct{})}
	elected := func(ctx context.Context, _ *core.TimeView) {
		if f.leading.Add(1) == int64(n) {
			close(f.allLead)
		}
		<-ctx.Done()
	}
	ousted := func(ctx context.Context) {
		if ctx.Err() == nil {
			f.ended.Add(1)
		}
	}
	for i := range n {
		f.configs = append(f.configs, core.Config{
			LeaderID: fmt.Sprintf("candidate-%d", i), TermLength: term,
			Decider:   slowStore{memory.NewDecider(), latency},
			OnElected: elected, OnOusting: ousted,
		})
	}
	return f
}

func (f *fleet) start() *fleet {
	for i := range f.configs {
		f.done.Go(func() { _ = f.configs[i].Acquire(f.ctx) })
	}
	return f
}

func (f *fleet) stop() {
	f.cancel()
	f.done.Wait()
}

// footprint is what the process uses, the goroutines' stacks included.
func footprint() (bytes int64, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()
}

// settle waits until no request is under way, as far as the number of
// goroutines shows.
func (f *fleet) settle(atMost int) int {
	<-f.allLead
	n := runtime.NumGoroutine()
	for range 2000 {
		if n = runtime.NumGoroutine(); n <= atMost {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return n
}

// BenchmarkFleet is 5,000 elections led in one process over a store that
// answers in 5 ms. It reports how long it takes until all lead, and what each
// of them costs while nothing happens, callback included, beyond its Config and store.
func BenchmarkFleet(b *testing.B) {
	const n = 5000
	for b.Loop() {
		f := newFleet(n, 5*time.Millisecond, 15*time.Second)
		bytes, goroutines := footprint()
		began := time.Now()
		f.start()
		<-f.allLead
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-until-all-lead")
		time.Sleep(16 * time.Second) // renewals have spread out, more than a term has passed
		f.settle(goroutines + 2*n)
		bytes2, goroutines2 := footprint()
		b.ReportMetric(float64(bytes2-bytes)/n, "B/election")
		b.ReportMetric(float64(goroutines2-goroutines)/n, "goroutines/election")
		b.ReportMetric(float64(f.ended.Load()), "expired")
		f.stop()
	}
}
