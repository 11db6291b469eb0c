//go:build unix

package core_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// cpuTime is what this process has used of all processors, the collector included.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRenewCPU is BenchmarkRenew in processor time, which other processes
// on the machine do not lengthen.
func BenchmarkRenewCPU(b *testing.B) {
	l := leader(b, core.Config{Decider: memory.NewDecider(), TermLength: time.Hour})
	ctx := context.Background()
	before := cpuTime(b)
	n := 0
	for b.Loop() {
		if err := l.Renew(ctx); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(n), "cpu-ns/op")
}
