package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

func leader(tb testing.TB, cfg core.Config) *core.Leadership {
	tb.Helper()
	cfg.LeaderID, cfg.ManualRenew = "bench", true
	l, err := cfg.Campaign(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Resign(context.Background()) })
	return l
}

// BenchmarkRenew is one renewal through core, with the memory decider for a store.
func BenchmarkRenew(b *testing.B) {
	l := leader(b, core.Config{Decider: memory.NewDecider(), TermLength: time.Hour})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Renew(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRenewUnbound is the same as the renewing goroutine does it: with the
// leadership's own context.
func BenchmarkRenewUnbound(b *testing.B) {
	l := leader(b, core.Config{Decider: memory.NewDecider(), TermLength: time.Hour})
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Renew(l.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheck is what a worker pays before each thing that only a leader may do.
func BenchmarkCheck(b *testing.B) {
	l := leader(b, core.Config{Decider: memory.NewDecider(), TermLength: time.Hour})
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
