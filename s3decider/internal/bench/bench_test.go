package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	emulator "github.com/cloudelect/cloudelect/emulators/s3"
)

const (
	pairs   = 30   // how often each program runs; the median counts
	maxSize = 13e6 // bytes: a cold start pays for each of them
)

// build compiles one of the programs as it is shipped: stripped, without cgo.
func build(tb testing.TB, name string) (path string, size int64) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return path, info.Size()
}

// BenchmarkDecide runs the two programs alternately, each on an election of its
// own, from the start of the process to its end. It fails when the binary with core and
// s3decider is too large; times are for people to judge.
func BenchmarkDecide(b *testing.B) {
	server, err := emulator.Start(&emulator.Options{Buckets: []string{"bench"}})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	decide, size := build(b, "decide")
	bare, bareSize := build(b, "bare")
	if size >= maxSize {
		b.Errorf("a stripped binary with core and s3decider has %d bytes", size)
	}
	run := func(path, key string) time.Duration {
		started := time.Now()
		if out, err := exec.Command(path, server.URL(), "bench", key).CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", path, err, out)
		}
		return time.Since(started)
	}
	run(decide, "warm/1")
	run(bare, "warm/2")
	round := 0
	for b.Loop() {
		round++
		var ours, theirs []time.Duration
		for i := range pairs {
			ours = append(ours, run(decide, fmt.Sprintf("decide/%d/%d", round, i)))
			theirs = append(theirs, run(bare, fmt.Sprintf("bare/%d/%d", round, i)))
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		a, z := ours[pairs/2], theirs[pairs/2]
		b.ReportMetric(float64(a.Microseconds())/1e3, "ms/decide")
		b.ReportMetric(float64(z.Microseconds())/1e3, "ms/bare")
		b.ReportMetric(float64(a)/float64(z), "ratio")
		b.ReportMetric(float64(size)/1e6, "MB/decide")
		b.ReportMetric(float64(bareSize)/1e6, "MB/bare")
	}
}
