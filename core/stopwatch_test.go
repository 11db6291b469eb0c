package core_test

import (
	"testing"
	"time"

	"github.com/vimeo/go-clocks/fake"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// One clock that stands still, then the other: all of it may have passed, none has for sure.
func TestStopwatchByBothClocks(t *testing.T) {
	base := fake.NewClock(time.Unix(1_800_000_000, 0))
	clock := skewclock.New(base, nil)
	watch := core.NewStopwatch(clock)
	begin := watch.Look()
	base.Advance(time.Second)
	if now := watch.Look(); now.AtMost-begin.AtMost != time.Second || now.AtLeast-begin.AtLeast != time.Second || now.Wall.Sub(begin.Wall) != time.Second {
		t.Errorf("clocks that go: %+v", now)
	}
	begin = watch.Look()
	clock.FreezeMono()
	base.Advance(time.Minute)
	watch.Look()
	clock.ThawMono(false)
	clock.FreezeWall()
	base.Advance(time.Minute)
	if now := watch.Look(); now.AtMost-begin.AtMost != 2*time.Minute || now.AtLeast != begin.AtLeast {
		t.Errorf("one frozen after the other: %v at most, %v at least; want 2m and 0s", now.AtMost-begin.AtMost, now.AtLeast-begin.AtLeast)
	}
}

// A wall clock that is set as far ahead as it goes makes no sum negative.
func TestStopwatchDoesNotOverflow(t *testing.T) {
	clock := skewclock.New(fake.NewClock(time.Unix(1_800_000_000, 0)), nil)
	watch := core.NewStopwatch(clock)
	for range 3 {
		clock.Step(290 * 365 * 24 * time.Hour)
		if now := watch.Look(); now.AtMost <= 0 || now.AtLeast != 0 {
			t.Fatalf("%v at most, %v at least", now.AtMost, now.AtLeast)
		}
		clock.Step(-290 * 365 * 24 * time.Hour)
		watch.Look()
	}
	if core.NewStopwatch(nil).Look().Wall.IsZero() {
		t.Error("a nil clock is not the system's")
	}
}
