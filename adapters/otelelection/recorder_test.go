package otelelection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/cloudelect/cloudelect/adapters/otelelection"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

func TestBadOptions(t *testing.T) {
	for says, opts := range map[string]*otelelection.Options{
		"Options.Election is empty": nil,
		"have to be UTF-8":          {Election: "x\xff"},
		"no key or no value":        {Election: "x", Attributes: []attribute.KeyValue{{}}},
		"of this package's own":     {Election: "x", Attributes: []attribute.KeyValue{attribute.String("election.name", "y")}},
		`"a" is there twice`:        {Election: "x", Attributes: []attribute.KeyValue{attribute.Int("a", 1), attribute.Int("a", 2)}},
	} {
		r, err := otelelection.New(opts)
		if r != nil || !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// Nothing that can be handed in makes it panic: not where there is no SDK either.
func TestNothingPanics(t *testing.T) {
	global, err := otelelection.New(&otelelection.Options{Election: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*otelelection.Recorder{nil, {}, global} {
		for kind := core.EventKind(-1); kind < 15; kind++ {
			r.OnEvent(core.Event{Kind: kind})
			r.OnEvent(core.Event{Kind: kind, Op: 99, Outcome: 99, Proof: 99, Latency: -1, Missed: -1,
				Entry: entry.RaceEntry{LeaderID: "\xff", TermLength: -1}, LeaderID: "\xff"})
		}
		for range 2 {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// After Close the gauges are gone, so that an election that is over does not look alive.
func TestCloseEndsTheGauges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, nil, nil)
		l := s.win(t.Context())
		s.want("open", map[string]float64{"election.leading": 1})
		if err := s.rec.Close(); err != nil {
			t.Error(err)
		}
		_ = l.Resign(t.Context())
		got := s.collect()
		if _, there := got["election.leading"]; there || got["election.reign.ended end_reason=resigned"] != 1 {
			t.Errorf("after Close: %v", got)
		}
	})
}

// TestManyElections: a Recorder each, one provider, collected all the while.
func TestManyElections(t *testing.T) {
	const n = 40
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		provider := metric.NewMeterProvider(metric.WithReader(reader))
		var runs sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for i := range n {
			store := memory.NewDecider()
			for _, id := range []string{"a", "b"} {
				r, err := otelelection.New(&otelelection.Options{Election: fmt.Sprint(i), Candidate: id, MeterProvider: provider, TracerProvider: noop.NewTracerProvider()})
				if err != nil {
					t.Fatal(err)
				}
				cfg := core.Config{LeaderID: id, Decider: store.Handle(), TermLength: term, OnEvent: r.OnEvent,
					OnElected: func(context.Context, *core.TimeView) {}}
				runs.Go(func() {
					_ = cfg.Acquire(ctx)
					_ = r.Close()
				})
			}
		}
		runs.Go(func() {
			for ctx.Err() == nil {
				collect(t, reader)
				time.Sleep(3700 * time.Millisecond)
			}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		leaders, names := countLeaders(t, reader)
		if leaders != n || names != n {
			t.Errorf("%d leaders of %d elections, want %d", leaders, names, n)
		}
		cancel()
		runs.Wait()
	})
}

// What others write does not become an attribute: series do not grow with time.
func TestAttributesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, &otelelection.Options{Election: "nightly", Candidate: "a", Attributes: []attribute.KeyValue{attribute.String("team", "x")}}, nil)
		size := 0
		for i := range 40 {
			l := s.win(t.Context())
			s.store.Handle().Lead(fmt.Sprintf("other-%d", i), term)
			_ = l.Renew(t.Context())
			s.store.Handle().Lead("", term)
			got := s.collect()
			if i == 1 {
				size = len(got)
			}
			for k := range got {
				if !strings.Contains(k, " candidate=a") || !strings.Contains(k, " team=x") || strings.Contains(k, "other") {
					t.Errorf("%s", k)
				}
			}
		}
		if got := s.collect(); len(got) != size {
			t.Errorf("%d series after two reigns and %d after forty", size, len(got))
		}
	})
}

// The table in the package's documentation has the instruments that there are, with
// their units.
func TestTheTableIsComplete(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "# Metrics")
	table, alerts, _ := strings.Cut(table, "# Alerts")
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(election\.\S+) +(?:gauge|counter|histogram) +(\S+)`).FindAllStringSubmatch(table, -1) {
		listed = append(listed, m[1]+" "+m[2])
		if !strings.Contains(alerts, "\t"+m[1]+" ") && m[1] != "election.term.length" {
			t.Errorf("%s has no alert", m[1])
		}
	}
	var made []string
	for _, m := range everything(t) {
		made = append(made, m.Name+" "+m.Unit)
	}
	slices.Sort(listed)
	slices.Sort(made)
	if !slices.Equal(listed, made) {
		t.Errorf("the table has\n%s\nthere is\n%s", strings.Join(listed, "\n"), strings.Join(made, "\n"))
	}
}

// BenchmarkRenewal is what a renewal costs: its two events, with metrics only, and
// with spans that a sampler drops or keeps.
func BenchmarkRenewal(b *testing.B) {
	for name, tracers := range map[string]trace.TracerProvider{
		"metrics": noop.NewTracerProvider(),
		"dropped": sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())),
		"spans":   sdktrace.NewTracerProvider(),
	} {
		b.Run(name, func(b *testing.B) {
			r, err := otelelection.New(&otelelection.Options{Election: "x", TracerProvider: tracers,
				MeterProvider: metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))})
			if err != nil {
				b.Fatal(err)
			}
			request, renewed := renewal()
			b.ReportAllocs()
			for b.Loop() {
				r.OnEvent(request)
				r.OnEvent(renewed)
			}
		})
	}
}

// A leader renews for months: with metrics alone that allocates nothing.
func TestRenewalAllocatesNothing(t *testing.T) {
	r, err := otelelection.New(&otelelection.Options{Election: "x", TracerProvider: noop.NewTracerProvider(),
		MeterProvider: metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))})
	if err != nil {
		t.Fatal(err)
	}
	request, renewed := renewal()
	if n := testing.AllocsPerRun(100, func() { r.OnEvent(request); r.OnEvent(renewed) }); n > 0 {
		t.Errorf("%v allocations for the events of a renewal", n)
	}
}

func renewal() (request, renewed core.Event) {
	now := time.Now()
	return core.Event{Kind: core.EventRequest, Op: core.OpRenew, Outcome: core.OutcomeStored, Time: now, Latency: time.Millisecond},
		core.Event{Kind: core.EventRenewed, Time: now, Entry: entry.RaceEntry{LeaderID: "a", FencingToken: 1, TermLength: term, TermExpiry: now.Add(term)}}
}
