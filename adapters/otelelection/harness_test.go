package otelelection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/cloudelect/cloudelect/adapters/otelelection"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

const term = 10 * time.Second

// scene is a candidate with the real SDK behind its Recorder. It plays in a bubble.
type scene struct {
	t      *testing.T
	store  *memory.Decider // the candidate's way to it
	cfg    core.Config
	rec    *otelelection.Recorder
	reader *metric.ManualReader
	spans  *tracetest.InMemoryExporter
}

func newScene(t *testing.T, opts *otelelection.Options, host *skewclock.Options) *scene {
	t.Helper()
	s := &scene{t: t, store: memory.NewDecider(), reader: metric.NewManualReader(), spans: tracetest.NewInMemoryExporter()}
	if opts == nil {
		opts = &otelelection.Options{Election: "nightly"}
	}
	opts.Clock = skewclock.New(clocks.DefaultClock(), host)
	opts.MeterProvider = metric.NewMeterProvider(metric.WithReader(s.reader))
	opts.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(s.spans))
	rec, err := otelelection.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	})
	s.rec = rec
	s.cfg = core.Config{LeaderID: "a", Decider: s.store, TermLength: term, Clock: opts.Clock,
		Memory: new(core.Memory), OnEvent: rec.OnEvent}
	return s
}

func (s *scene) win(ctx context.Context) *core.Leadership {
	s.t.Helper()
	l, err := s.cfg.Campaign(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
	return l
}

// collect returns the value of every data point, by its name and attributes but
// election.name: "election.reign.begun election.proof=vacant". That of a histogram
// is the number of its requests, and their seconds are under "sum of …".
func (s *scene) collect() map[string]float64 {
	s.t.Helper()
	synctest.Wait()
	return collect(s.t, s.reader)
}

func collect(t *testing.T, reader *metric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	points := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Gauge[int64]:
				for _, p := range d.DataPoints {
					points[key(m.Name, p.Attributes)] = float64(p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					points[key(m.Name, p.Attributes)] = p.Value
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					points[key(m.Name, p.Attributes)] = float64(p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					points[key(m.Name, p.Attributes)] = float64(p.Count)
					points["sum of "+key(m.Name, p.Attributes)] = p.Sum
				}
			default:
				t.Fatalf("%s is a %T", m.Name, d)
			}
		}
	}
	return points
}

func key(name string, set attribute.Set) string {
	for _, a := range set.ToSlice() {
		if a.Key != "election.name" {
			name += fmt.Sprintf(" %s=%s", strings.TrimPrefix(string(a.Key), "election."), a.Value.String())
		}
	}
	return name
}

// want compares some of the points.
func (s *scene) want(when string, want map[string]float64) {
	s.t.Helper()
	got := s.collect()
	for k, v := range want {
		if d := got[k] - v; d > 1e-9 || d < -1e-9 {
			s.t.Errorf("%s: %s is %v, want %v", when, k, got[k], v)
		}
	}
}

// everything is what a Recorder with all attributes records in a life that leaves
// out no kind of event.
func everything(t *testing.T) []metricdata.Metrics {
	t.Helper()
	reader := metric.NewManualReader()
	r, err := otelelection.New(&otelelection.Options{Election: "x", Candidate: "a",
		MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)), TracerProvider: noop.NewTracerProvider()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	now := time.Now()
	for kind := core.EventRequest; kind <= core.EventMissed; kind++ {
		r.OnEvent(core.Event{Kind: kind, Op: core.OpRead, Outcome: core.OutcomeRead, Time: now, Missed: 1, Proof: core.ProofClock,
			Entry: entry.RaceEntry{LeaderID: "a", TermLength: term, TermExpiry: now.Add(term)}})
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.ScopeMetrics) != 1 {
		t.Fatalf("%d scopes", len(all.ScopeMetrics))
	}
	return all.ScopeMetrics[0].Metrics
}

// countLeaders adds election.leading up, and counts the elections that have it.
func countLeaders(t *testing.T, reader *metric.ManualReader) (leaders int64, elections int) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if g, ok := m.Data.(metricdata.Gauge[int64]); ok && m.Name == "election.leading" {
				for _, p := range g.DataPoints {
					leaders += p.Value
					name, _ := p.Attributes.Value("election.name")
					names[name.AsString()] = true
				}
			}
		}
	}
	return leaders, len(names)
}
