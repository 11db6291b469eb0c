package dynamodecider

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// TestFrozenLeader: a leader whose clocks have both stopped believes that it leads
// long after somebody else does. No lease can prevent that; its fenced writes do no harm.
func TestFrozenLeader(t *testing.T) {
	clock := skewclock.New(clocks.DefaultClock(), nil)
	f := newFenced(t, false, func(c *core.Config) {
		c.TermLength, c.Clock = 2*time.Second, clock
	})
	clock.FreezeMono()
	clock.FreezeWall()
	defer func() { clock.ThawMono(true); clock.ThawWall(true) }()
	must(t, f.write("before"))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next, err := core.Config{Decider: f.d, LeaderID: "worker-2", TermLength: time.Minute,
		PollInterval: 50 * time.Millisecond, ManualRenew: true}.Campaign(ctx)
	must(t, err)
	if err := f.l.Check(); err != nil {
		t.Fatalf("the frozen leader knows: this test shows nothing: %v", err)
	}
	if err := f.write("too late"); !errors.Is(err, core.ErrLeadershipLost) {
		t.Errorf("%v", err)
	}
	f.stored(t, "before")
	if _, err := f.d.WriteFenced(ctx, f.client, next, put("by the next")); err != nil {
		t.Error(err)
	}
	f.stored(t, "by the next")
	must(t, next.Resign(ctx))
}
