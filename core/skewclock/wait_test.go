package skewclock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"github.com/vimeo/go-clocks/fake"

	"github.com/cloudelect/cloudelect/core/skewclock"
)

// lasted runs f on a clock in a bubble and returns how much true time it took.
func lasted(t *testing.T, opts *skewclock.Options, f func(t *testing.T, c *skewclock.Clock)) (d time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f(t, skewclock.New(clocks.DefaultClock(), opts))
		d = time.Since(start)
	})
	return d
}

// waits are the ways to wait for 10 s of the monotonic clock.
var waits = map[string]func(t *testing.T, c *skewclock.Clock){
	"SleepFor": func(t *testing.T, c *skewclock.Clock) {
		if !c.SleepFor(t.Context(), 10*time.Second) {
			t.Error("false")
		}
	},
	"AfterFunc": func(t *testing.T, c *skewclock.Clock) {
		done := make(chan struct{})
		timer := c.AfterFunc(10*time.Second, func() { close(done) })
		<-done
		if timer.Stop() {
			t.Error("stopped after it fired")
		}
	},
	"NewTimer": func(t *testing.T, c *skewclock.Clock) {
		timer := c.NewTimer(10 * time.Second)
		if at := <-*timer.Ch(); !at.Equal(c.Now()) {
			t.Errorf("sent %v at %v", at, c.Now())
		}
	},
	"ContextWithTimeout": func(t *testing.T, c *skewclock.Clock) {
		ctx, cancel := c.ContextWithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		<-ctx.Done()
	},
}

func TestRelativeWaitsRunOnTheMonotonicClock(t *testing.T) {
	after := func(d time.Duration, f func()) { time.AfterFunc(d, f) }
	for _, tc := range []struct {
		name  string
		opts  *skewclock.Options
		meddl func(c *skewclock.Clock)
		want  time.Duration
	}{
		{"true", nil, func(*skewclock.Clock) {}, 10 * time.Second},
		{"fast", &skewclock.Options{Rate: 2}, func(*skewclock.Clock) {}, 5 * time.Second},
		{"a third, rounded up", &skewclock.Options{Rate: 3}, func(*skewclock.Clock) {}, 3_333_333_334},
		{"wall steps do not count", &skewclock.Options{Offset: time.Hour}, func(c *skewclock.Clock) {
			after(time.Second, func() { c.Step(time.Hour); c.Step(-2 * time.Hour) })
			after(time.Second, c.FreezeWall)
		}, 10 * time.Second},
		{"a rate that falls", nil, func(c *skewclock.Clock) {
			after(5*time.Second, func() { c.SetRate(0.5) })
		}, 15 * time.Second},
		{"a rate that rises", nil, func(c *skewclock.Clock) {
			after(5*time.Second, func() { c.SetRate(5) })
		}, 6 * time.Second},
		{"a freeze", nil, func(c *skewclock.Clock) {
			after(5*time.Second, c.FreezeMono)
			after(time.Minute, func() { c.ThawMono(false) })
		}, 65 * time.Second},
		{"a freeze from the start", nil, func(c *skewclock.Clock) {
			c.FreezeMono()
			after(time.Minute, func() { c.ThawMono(false) })
		}, 70 * time.Second},
		{"a freeze that is caught up", nil, func(c *skewclock.Clock) {
			after(5*time.Second, c.FreezeMono)
			after(time.Minute, func() { c.ThawMono(true) })
		}, time.Minute},
	} {
		for name, wait := range waits {
			t.Run(tc.name+"/"+name, func(t *testing.T) {
				got := lasted(t, tc.opts, func(t *testing.T, c *skewclock.Clock) {
					tc.meddl(c)
					wait(t, c)
				})
				if got != tc.want {
					t.Errorf("lasted %v, want %v", got, tc.want)
				}
			})
		}
	}
}

func TestAbsoluteWaitsRunOnTheWallClock(t *testing.T) {
	waits := map[string]func(t *testing.T, c *skewclock.Clock, at time.Time){
		"SleepUntil": func(t *testing.T, c *skewclock.Clock, at time.Time) {
			if !c.SleepUntil(t.Context(), at) {
				t.Error("false")
			}
		},
		"ContextWithDeadline": func(t *testing.T, c *skewclock.Clock, at time.Time) {
			ctx, cancel := c.ContextWithDeadline(t.Context(), at)
			defer cancel()
			if d, ok := ctx.Deadline(); !ok || !d.Equal(at) {
				t.Errorf("deadline %v, %v", d, ok)
			}
			<-ctx.Done()
		},
	}
	for _, tc := range []struct {
		name  string
		meddl func(c *skewclock.Clock)
		want  time.Duration
	}{
		{"offset", func(*skewclock.Clock) {}, 10 * time.Second},
		{"step forwards", func(c *skewclock.Clock) { time.AfterFunc(time.Second, func() { c.Step(time.Hour) }) }, time.Second},
		{"step backwards", func(c *skewclock.Clock) { time.AfterFunc(time.Second, func() { c.Step(-time.Minute) }) }, 70 * time.Second},
		{"freeze", func(c *skewclock.Clock) {
			c.FreezeWall()
			time.AfterFunc(time.Minute, func() { c.ThawWall(false) })
		}, 70 * time.Second},
		{"a frozen monotonic clock does not count", func(c *skewclock.Clock) { c.FreezeMono() }, 10 * time.Second},
	} {
		for name, wait := range waits {
			t.Run(tc.name+"/"+name, func(t *testing.T) {
				got := lasted(t, &skewclock.Options{Offset: time.Hour}, func(t *testing.T, c *skewclock.Clock) {
					tc.meddl(c)
					wait(t, c, c.Now().Add(10*time.Second))
				})
				if got != tc.want {
					t.Errorf("lasted %v, want %v", got, tc.want)
				}
			})
		}
	}
}

// Neighbouring nanoseconds stay apart, whatever the rate: simulations give
// each of their actors a nanosecond of its own.
func TestWaitsComeInOrder(t *testing.T) {
	for _, rate := range []float64{0.976, 1, 1.000_000_001, 1.024} {
		synctest.Test(t, func(t *testing.T) {
			c := skewclock.New(clocks.DefaultClock(), &skewclock.Options{Rate: rate})
			got := make(chan time.Duration, 100)
			for i := range 100 {
				d := time.Second + 3*time.Duration((i*37)%100)
				c.AfterFunc(d, func() {
					mono, _ := c.Readings()
					if mono < d {
						t.Errorf("rate %v: %v fired at %v", rate, d, mono)
					}
					got <- d
				})
			}
			for last := time.Duration(0); last < time.Second+3*99; {
				d := <-got
				if d <= last {
					t.Fatalf("rate %v: %v after %v", rate, d, last)
				}
				last = d
			}
		})
	}
}

func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := skewclock.New(clocks.DefaultClock(), nil)
		a := c.AfterFunc(time.Second, func() { t.Error("a stopped AfterFunc ran") })
		b := c.NewTimer(time.Second)
		c.FreezeMono()
		if !a.Stop() || !b.Stop() || a.Stop() || b.Stop() {
			t.Error("Stop is true once")
		}
		c.ThawMono(true)
		time.Sleep(time.Minute)
		select {
		case <-*b.Ch():
			t.Error("a stopped timer fired")
		default:
		}
	})
}

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := skewclock.New(clocks.DefaultClock(), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if c.SleepFor(ctx, time.Minute) {
			t.Error("SleepFor: true")
		}
		if time.Since(start) != time.Second {
			t.Errorf("after %v", time.Since(start))
		}
		for name, got := range map[string]bool{
			"SleepFor": c.SleepFor(ctx, time.Minute), "SleepFor 0": c.SleepFor(ctx, 0), "SleepFor -1": c.SleepFor(ctx, -1),
			"SleepUntil": c.SleepUntil(ctx, c.Now().Add(time.Minute)), "SleepUntil the past": c.SleepUntil(ctx, c.Now().Add(-1)),
		} {
			if got {
				t.Errorf("%s with an ended context: true", name)
			}
		}
		if !c.SleepFor(t.Context(), 0) || !c.SleepUntil(t.Context(), c.Now()) {
			t.Error("no wait at all: false")
		}
		if time.Since(start) != time.Second {
			t.Errorf("these waited: %v", time.Since(start))
		}
	})
}

// go-clocks' fake clock never fires a timer of zero.
func TestNothingToWaitForFires(t *testing.T) {
	for _, base := range []clocks.Clock{fake.NewClock(time.Unix(1, 0)), clocks.DefaultClock()} {
		c := skewclock.New(base, nil)
		for _, d := range []time.Duration{0, -time.Second} {
			<-*c.NewTimer(d).Ch()
			done := make(chan struct{})
			c.AfterFunc(d, func() { close(done) })
			<-done
		}
	}
}

// A wait is due at the first nanosecond that shows it: fractions count.
func TestFractionsOfANanosecondCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := skewclock.New(clocks.DefaultClock(), &skewclock.Options{Rate: 1.5})
		time.Sleep(time.Nanosecond) // shows 1, and half a nanosecond more
		start := time.Now()
		c.SleepFor(t.Context(), 2)
		if d := time.Since(start); d != 1 {
			t.Errorf("2 ns at one and a half, half a nanosecond in hand: %v, want 1ns", d)
		}
	})
}

func TestWhatIsDueFiresOnAFrozenClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := skewclock.New(clocks.DefaultClock(), nil)
		c.FreezeMono()
		<-*c.NewTimer(0).Ch()
	})
}

// hasty is a base whose timers fire too early, as a re-armed one may.
type hasty struct{ clocks.Clock }

func (h hasty) AfterFunc(d time.Duration, f func()) clocks.StopTimer {
	return h.Clock.AfterFunc((d+1)/2, f)
}

func TestABaseThatFiresEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := skewclock.New(hasty{clocks.DefaultClock()}, nil)
		start := time.Now()
		fired := make(chan struct{})
		c.AfterFunc(time.Second, func() { close(fired) })
		c.SetRate(1)
		<-fired // a second time would panic
		if d := time.Since(start); d != time.Second {
			t.Errorf("1 s took %v", d)
		}
	})
}

// Nothing is left with the base when a wait ended early.
func TestNoTimerIsLeft(t *testing.T) {
	base := fake.NewClock(time.Unix(1_000, 0))
	c := skewclock.New(base, nil)
	slept := make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { slept <- c.SleepFor(ctx, time.Minute) }()
	base.AwaitRegisteredCallbacks(1)
	c.SetRate(2)
	cancel()
	<-slept
	_, cancel = c.ContextWithTimeout(t.Context(), time.Minute)
	cancel()
	parent, cancelParent := context.WithCancel(t.Context())
	child, cancel := c.ContextWithTimeout(parent, time.Minute)
	defer cancel()
	cancelParent()
	<-child.Done()
	c.NewTimer(time.Minute).Stop()
	if left := base.RegisteredCallbacks(); len(left) > 0 {
		t.Errorf("timers left with the base: %v", left)
	}
}

func TestOverAFakeClock(t *testing.T) {
	base := fake.NewClock(time.Unix(1_000, 0))
	c := skewclock.New(base, &skewclock.Options{Rate: 2})
	timer := c.NewTimer(10 * time.Second)
	base.Advance(5*time.Second - 1)
	base.WaitAfterFuncs()
	select {
	case <-*timer.Ch():
		t.Fatal("fired early")
	default:
	}
	base.Advance(1)
	<-*timer.Ch()
}
