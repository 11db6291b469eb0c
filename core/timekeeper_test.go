package core

import (
	"sync"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"
	"github.com/vimeo/go-clocks/fake"
)

// handClock has two hands that a test moves one by one. It cannot wait.
type handClock struct {
	clocks.Clock
	mu   sync.Mutex
	mono time.Duration
	wall time.Time
}

func (c *handClock) Readings() (time.Duration, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono, c.wall
}

func (c *handClock) Now() time.Time {
	_, wall := c.Readings()
	return wall
}

func (c *handClock) move(mono, wall time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mono, c.wall = c.mono+mono, c.wall.Add(wall)
}

// TestElapsedIsTheSumOfTheLargerSteps: between two looks the clock that moved
// further is believed, so that freezing one and then the other hides nothing.
func TestElapsedIsTheSumOfTheLargerSteps(t *testing.T) {
	clock := &handClock{mono: 77 * time.Hour, wall: noon}
	k := newTimekeeper(clock)
	if now := k.sample(); now.elapsed != 0 || now.mono != 77*time.Hour || !now.wall.Equal(noon) {
		t.Fatalf("at the start: %+v", now)
	}
	const s = time.Second
	for _, step := range []struct {
		name             string
		mono, wall, want time.Duration
	}{
		{"together", 5 * s, 5 * s, 5 * s},
		{"not at all", 0, 0, 5 * s},
		{"the monotonic clock is frozen", 0, 4 * s, 9 * s},
		{"the wall clock is frozen", 4 * s, 0, 13 * s},
		{"the wall clock is faster", 4 * s, 5 * s, 18 * s},
		{"the monotonic clock is faster", 2 * s, 1 * s, 20 * s},
		{"the wall clock steps back", 1 * s, -3600 * s, 21 * s},
		{"it steps forward again", 1 * s, 3600 * s, 3621 * s},
		{"the monotonic clock goes back, which it must not", -9 * s, 1 * s, 3622 * s},
		{"both go back", -9 * s, -9 * s, 3622 * s},
		{"both catch up: hours count once, seconds may twice", 18 * s, 9 * s, 3640 * s},
	} {
		clock.move(step.mono, step.wall)
		mono, wall := clock.Readings()
		now := k.sample()
		if now.elapsed != step.want || now.mono != mono || !now.wall.Equal(wall) {
			t.Errorf("%s: elapsed %v, want %v", step.name, now.elapsed, step.want)
		}
	}
}

// TestSplitFreezeShowsOnlyInSamples is why a leader looks at its clocks every
// TermLength/8: in one long step a freeze of one clock, then of the other, halves.
func TestSplitFreezeShowsOnlyInSamples(t *testing.T) {
	for samples, want := range map[bool]time.Duration{true: 20 * time.Second, false: 10 * time.Second} {
		clock := &handClock{wall: noon}
		k := newTimekeeper(clock)
		clock.move(0, 10*time.Second)
		if samples {
			k.sample()
		}
		clock.move(10*time.Second, 0)
		if got := k.sample().elapsed; got != want {
			t.Errorf("sampled in between %v: %v, want %v", samples, got, want)
		}
	}
}

// TestTimekeeperOnAnyClock: a clock without Readings serves with its Now.
func TestTimekeeperOnAnyClock(t *testing.T) {
	clock := fake.NewClock(noon)
	k := newTimekeeper(clock)
	clock.Advance(time.Minute)
	if now := k.sample(); now.elapsed != time.Minute || now.mono != time.Minute || !now.wall.Equal(noon.Add(time.Minute)) {
		t.Errorf("%+v", now)
	}
	system := newTimekeeper(clocks.DefaultClock()).sample()
	if system.wall != system.wall.Round(0) {
		t.Error("the wall reading has a monotonic part: comparing it would not look at the wall clock")
	}
	if system.mono < 0 || system.elapsed < 0 {
		t.Errorf("%+v", system)
	}
}

// TestTimekeeperConcurrently: no sample is before another that has returned.
func TestTimekeeperConcurrently(t *testing.T) {
	clock := &handClock{wall: noon}
	k := newTimekeeper(clock)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var last instant
			for range 500 {
				clock.move(1, 2)
				now := k.sample()
				if now.elapsed < last.elapsed || now.mono < last.mono {
					t.Errorf("%v after %v", now, last)
				}
				last = now
			}
		})
	}
	wg.Wait()
	if got := k.sample().elapsed; got != 4000 {
		t.Errorf("elapsed %v, want every step of the wall clock, which is the faster one", got)
	}
}

// sliceClock cannot be compared with ==.
type sliceClock struct {
	clocks.Clock
	_ []int
}

func TestSameClock(t *testing.T) {
	a, b := &handClock{}, &handClock{}
	for _, tc := range []struct {
		name string
		a, b clocks.Clock
		want bool
	}{
		{"itself", a, a, true}, {"another of its type", a, b, false}, {"another type", a, clocks.DefaultClock(), false},
		{"the system's twice", clocks.DefaultClock(), clocks.DefaultClock(), true},
		{"not comparable, same type", sliceClock{}, sliceClock{}, true},
		{"not comparable, other type", sliceClock{}, a, false},
	} {
		if got := sameClock(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	var m Memory
	if m.attach(a) != nil || m.attach(b) == nil || m.attach(a) != nil {
		t.Error("a Memory belongs to one clock")
	}
}

// TestViewOfATerm: a leader's view shows the end of its term by both clocks,
// and never the future again once the reign has ended.
func TestViewOfATerm(t *testing.T) {
	clock := &handClock{wall: noon}
	v := TimeView{keeper: newTimekeeper(clock)}
	now := v.keeper.sample()
	v.show(now, now.elapsed+10*time.Second)
	if !v.ValueInFuture() || !v.Get().Equal(noon.Add(10*time.Second)) {
		t.Errorf("shows %v", v.Get())
	}
	clock.move(4*time.Second, 0) // the wall clock is frozen: the same end is later on it, in vain
	v.expire(v.keeper.sample())
	if v.ValueInFuture() || !v.Get().Equal(noon) {
		t.Errorf("ended, but shows %v at %v", v.Get(), clock.Now())
	}
	v.show(v.keeper.sample(), v.keeper.sample().elapsed+time.Second)
	clock.move(time.Second, 0)
	was := v.Get()
	clock.move(time.Hour, time.Hour)
	v.expire(v.keeper.sample())
	if !v.Get().Equal(was) || v.ValueInFuture() {
		t.Errorf("an end that is past already moved from %v to %v", was, v.Get())
	}
}
