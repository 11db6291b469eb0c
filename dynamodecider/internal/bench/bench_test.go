package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	emulator "github.com/cloudelect/cloudelect/emulators/dynamodb"
)

// pairs is how often each program runs; the median counts.
const pairs = 30

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

// TestSize: who deploys a worker on a function pays for every megabyte with every
// cold start.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two programs")
	}
	_, with := build(t, "decide")
	_, bare := build(t, "bare")
	t.Logf("core and dynamodecider: %.2f MB; the SDK alone: %.2f MB", float64(with)/1e6, float64(bare)/1e6)
	if with >= 13e6 {
		t.Errorf("a stripped binary has %d bytes, 13 MB or more", with)
	}
}

// BenchmarkDecide runs the two programs alternately, each on an election of its
// own, from the start of the process to its end.
func BenchmarkDecide(b *testing.B) {
	server, err := emulator.Start(&emulator.Options{Tables: map[string]string{"elections": "election"}})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	decide, _ := build(b, "decide")
	bare, _ := build(b, "bare")
	run := func(path, election string) time.Duration {
		cmd := exec.Command(path, election)
		cmd.Env = []string{"AWS_ENDPOINT_URL_DYNAMODB=" + server.URL(), "AWS_REGION=local",
			"AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench", "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull}
		started := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
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
	}
}
