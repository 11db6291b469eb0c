package otelelection_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/cloudelect/cloudelect/adapters/health"
	"github.com/cloudelect/cloudelect/adapters/otelelection"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// One OnEvent feeds the metrics and the probes.
func Example() {
	reader := metric.NewManualReader() // in production: an exporter's
	recorder, err := otelelection.New(&otelelection.Options{
		Election:      "nightly",
		MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)), // nil: otel.SetMeterProvider's
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer recorder.Close()
	probes, err := health.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := core.Config{LeaderID: "worker-1", Decider: memory.NewDecider()}
	cfg.OnEvent = func(e core.Event) {
		recorder.OnEvent(e)
		probes.OnEvent(e)
	}
	err = cfg.RunAsLeader(context.Background(), func(ctx context.Context, l *core.Leadership) error {
		if err := l.Settle(ctx); err != nil { // until the events so far were heard
			return err
		}
		var all metricdata.ResourceMetrics
		if err := reader.Collect(ctx, &all); err != nil {
			return err
		}
		for _, m := range all.ScopeMetrics[0].Metrics {
			if g, ok := m.Data.(metricdata.Gauge[int64]); ok {
				fmt.Println(m.Name, g.DataPoints[0].Value)
			}
		}
		return probes.Ready()
	})
	fmt.Println(err)
	// Output:
	// election.leading 1
	// <nil>
}
