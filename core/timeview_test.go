package core_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"github.com/vimeo/go-clocks/fake"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

func TestZeroTimeView(t *testing.T) {
	for name, v := range map[string]*core.TimeView{"the zero value": new(core.TimeView), "new": core.NewTimeView(nil)} {
		if !v.Get().IsZero() || v.ValueInFuture() {
			t.Errorf("%s: %v, in the future %v", name, v.Get(), v.ValueInFuture())
		}
		if v.Clock() != clocks.DefaultClock() {
			t.Errorf("%s: clock %T", name, v.Clock())
		}
		v.Set(time.Now().Add(time.Hour))
		if !v.ValueInFuture() {
			t.Errorf("%s: an hour from now is past", name)
		}
		v.Set(time.Time{})
		if v.ValueInFuture() {
			t.Errorf("%s: the zero time is to come", name)
		}
	}
}

func TestTimeViewShowsWhatWasSet(t *testing.T) {
	start := time.Date(2025, time.March, 1, 12, 0, 0, 0, time.UTC)
	clock := fake.NewClock(start)
	v := core.NewTimeView(clock)
	if v.Clock() != clock {
		t.Errorf("clock %v", v.Clock())
	}
	end := start.Add(10 * time.Second)
	v.Set(end)
	for _, step := range []struct {
		by     time.Duration
		future bool
	}{{0, true}, {10*time.Second - 1, true}, {1, false}, {1, false}, {time.Hour, false}} {
		clock.Advance(step.by)
		if got := v.ValueInFuture(); got != step.future || !v.Get().Equal(end) {
			t.Errorf("%v before %v: in the future %v, shows %v", end.Sub(clock.Now()), end, got, v.Get())
		}
	}
	v.Set(clock.Now().Add(1))
	if !v.ValueInFuture() {
		t.Error("set anew, but still past")
	}
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		if v.Set(clock.Now().Add(d)); v.ValueInFuture() {
			t.Errorf("%v from now is to come", d)
		}
	}
	zone := time.FixedZone("", 3600)
	if v.Set(clock.Now().In(zone).Add(1)); !v.ValueInFuture() || v.Get().Location() != zone {
		t.Error("another zone")
	}
}

// TestTimeViewIsPastByEitherClock: a term is over as soon as one of the two
// clocks has moved that far, and a wall clock that is set back brings none back.
func TestTimeViewIsPastByEitherClock(t *testing.T) {
	for name, meddle := range map[string]func(c *skewclock.Clock){
		"the monotonic clock is frozen": func(c *skewclock.Clock) { c.FreezeMono(); time.Sleep(10 * time.Second) },
		"the wall clock is frozen":      func(c *skewclock.Clock) { c.FreezeWall(); time.Sleep(10 * time.Second) },
		"the wall clock was set back":   func(c *skewclock.Clock) { c.Step(-time.Hour); time.Sleep(10 * time.Second) },
		"the wall clock jumped":         func(c *skewclock.Clock) { c.Step(10 * time.Second) },
		"it was past once": func(c *skewclock.Clock) {
			time.Sleep(10 * time.Second)
			c.Step(-time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := skewclock.New(clocks.DefaultClock(), nil)
				v := core.NewTimeView(clock)
				v.Set(clock.Now().Add(10 * time.Second))
				time.Sleep(time.Nanosecond)
				if !v.ValueInFuture() {
					t.Fatal("past at once")
				}
				meddle(clock)
				if v.ValueInFuture() {
					t.Error("still to come")
				}
			})
		})
	}
}

func TestTimeViewConcurrently(t *testing.T) {
	var v core.TimeView
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 200 {
				switch (i + n) % 4 {
				case 0:
					v.Set(time.Now().Add(time.Hour))
				case 1:
					v.Get()
				case 2:
					v.ValueInFuture()
				case 3:
					v.Clock()
				}
			}
		})
	}
	wg.Wait()
	if !v.ValueInFuture() {
		t.Error("past")
	}
}
