//go:build !race

package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// One renewal costs twelve allocations at most, the memory decider's included;
// a check costs none. The race detector allocates for itself, so `make costs`
// runs this without it.
func TestAllocations(t *testing.T) {
	l := leader(t, core.Config{Decider: memory.NewDecider(), TermLength: time.Hour})
	renewal := testing.AllocsPerRun(1000, func() {
		if err := l.Renew(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
	if renewal > 12 {
		t.Errorf("a renewal takes %v allocations, want 12 at most", renewal)
	}
	if check := testing.AllocsPerRun(1000, func() { _ = l.Check() }); check > 0 {
		t.Errorf("a check takes %v allocations", check)
	}
}

// An election that is led and does nothing takes two goroutines, the user's
// callback included, and nothing that grows.
func TestAllocationsOfAFleet(t *testing.T) {
	const n = 500
	_, before := footprint()
	f := newFleet(n, 0, time.Hour).start()
	defer f.stop()
	if got := f.settle(before+2*n) - before; got > 2*n {
		t.Errorf("%d goroutines for %d elections, want two each", got, n)
	}
}
