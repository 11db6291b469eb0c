package skewclock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"github.com/vimeo/go-clocks/fake"

	"github.com/cloudelect/cloudelect/core/skewclock"
)

// readings are what both clocks show, counted from the start of the test.
func readings(c *skewclock.Clock, start time.Time) (mono, wall time.Duration) {
	m, w := c.Readings()
	return m, w.Sub(start)
}

func expect(t *testing.T, c *skewclock.Clock, start time.Time, mono, wall time.Duration) {
	t.Helper()
	if m, w := readings(c, start); m != mono || w != wall {
		t.Errorf("mono %v, wall %v; want %v, %v", m, w, mono, wall)
	}
}

func TestNilOptionsAgreeWithTheBase(t *testing.T) {
	base := fake.NewClock(time.Unix(1_000, 7))
	c := skewclock.New(base, nil)
	base.Advance(time.Hour)
	if !c.Now().Equal(base.Now()) || c.Until(base.Now().Add(5)) != 5 {
		t.Errorf("shows %v, base %v", c.Now(), base.Now())
	}
	expect(t, c, time.Unix(1_000, 7), time.Hour, time.Hour)
}

func TestOffsetStepsAndFreezes(t *testing.T) {
	start := time.Unix(1_000, 0)
	base := fake.NewClock(start)
	c := skewclock.New(base, &skewclock.Options{Offset: -24 * time.Hour, Mono: 5})
	expect(t, c, start, 5, -24*time.Hour)

	c.Step(24 * time.Hour)
	base.Advance(time.Second)
	expect(t, c, start, time.Second+5, time.Second)

	c.FreezeMono()
	base.Advance(time.Second)
	expect(t, c, start, time.Second+5, 2*time.Second)
	c.ThawMono(false)
	expect(t, c, start, time.Second+5, 2*time.Second)

	c.FreezeWall()
	base.Advance(time.Second / 2)
	c.FreezeWall() // frozen is frozen
	base.Advance(time.Second / 2)
	expect(t, c, start, 2*time.Second+5, 2*time.Second)
	c.Step(-time.Minute) // a frozen clock can be set
	c.ThawWall(true)
	expect(t, c, start, 2*time.Second+5, 3*time.Second-time.Minute)
	c.ThawWall(true) // and is not set right twice
	expect(t, c, start, 2*time.Second+5, 3*time.Second-time.Minute)
}

// However often a clock is asked, it shows the same: no rounding piles up.
func TestRateIsExact(t *testing.T) {
	start := time.Unix(1_000, 0)
	base := fake.NewClock(start)
	opts := &skewclock.Options{Rate: 1.024}
	asked, left := skewclock.New(base, opts), skewclock.New(base, opts)
	for range 999 {
		base.Advance(1_001) // 1,025.024 ns
		asked.Readings()
	}
	base.Advance(1)
	const want = 1_024*(999*1_001+1)/1_000 + 0
	expect(t, asked, start, want, want)
	expect(t, left, start, want, want)

	asked.SetRate(0.5)
	base.Advance(2 * time.Second)
	expect(t, asked, start, want+time.Second, want+time.Second)
}

func TestRateIsKeptWithinBounds(t *testing.T) {
	nan := 0.0
	nan /= nan
	for _, tc := range []struct {
		rate float64
		want time.Duration
	}{{-1, time.Millisecond}, {1e9, 1_000 * time.Second}, {nan, time.Second}} {
		start := time.Unix(1_000, 0)
		base := fake.NewClock(start)
		c := skewclock.New(base, &skewclock.Options{Rate: tc.rate})
		base.Advance(time.Second)
		expect(t, c, start, tc.want, tc.want)
	}
}

// Far out the readings stop at the end of their range; nothing wraps round.
func TestFarOut(t *testing.T) {
	base := fake.NewClock(time.Unix(0, 0))
	c := skewclock.New(base, &skewclock.Options{Rate: 1_000})
	for range 3 {
		base.Advance(200 * 365 * 24 * time.Hour)
		c.Readings()
	}
	if m, w := c.Readings(); m != 1<<63-1 || w.Before(time.Unix(0, 0)) {
		t.Errorf("mono %v, wall %v", m, w)
	}
	// Three times 146 years do not fit, though 146 years and the rate do.
	c = skewclock.New(base, &skewclock.Options{Rate: 3})
	base.Advance(146 * 365 * 24 * time.Hour)
	if m, _ := c.Readings(); m != 1<<63-1 {
		t.Errorf("mono %v", m)
	}
}

func TestWaitsOfCenturies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := skewclock.New(clocks.DefaultClock(), &skewclock.Options{Rate: 0.5, Mono: time.Hour})
		for _, d := range []time.Duration{200 * 365 * 24 * time.Hour, 1<<63 - 1} {
			timer := c.AfterFunc(d, func() { t.Errorf("%v have passed", d) })
			time.Sleep(time.Hour)
			if !timer.Stop() {
				t.Errorf("%v: not waiting", d)
			}
		}
	})
}

func TestABaseThatGoesBackMovesNothing(t *testing.T) {
	start := time.Unix(1_000, 0)
	base := fake.NewClock(start)
	c := skewclock.New(base, nil)
	base.Advance(time.Minute)
	expect(t, c, start, time.Minute, time.Minute)
	base.Advance(-time.Hour)
	expect(t, c, start, time.Minute, time.Minute)
	base.Advance(time.Second)
	expect(t, c, start, time.Minute+time.Second, time.Minute+time.Second)
}

func TestSystemClockInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Round(0)
		c := skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: time.Hour, Rate: 2})
		time.Sleep(time.Second)
		expect(t, c, start, 2*time.Second, time.Hour+2*time.Second)
	})
}
