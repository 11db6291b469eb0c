package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// watchSteps changes a store once per second of the bubble, after a read at
// every full second has been answered.
func watchSteps(steps ...func()) {
	time.Sleep(500 * time.Millisecond)
	for _, step := range steps {
		step()
		time.Sleep(time.Second)
	}
}

// TestWatchTellsEachVersionOnce: the first one even if it is none, renewals,
// vacancy and deletion; and it goes on after errors.
func TestWatchTellsEachVersionOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewDecider()
		ctx, cancel := context.WithCancelCause(t.Context())
		type key struct{}
		ctx = context.WithValue(ctx, key{}, "ours")
		var got []string
		done := make(chan error)
		go func() {
			done <- core.WatchConfig{Decider: store, PollInterval: time.Second}.Watch(ctx, func(ctx context.Context, e entry.RaceEntry) {
				if ctx.Value(key{}) != "ours" {
					t.Error("the callback got another context")
				}
				got = append(got, fmt.Sprintf("%s/%d", e.LeaderID, e.ElectionNumber))
			})
		}()
		watchSteps(
			func() {},
			func() { store.Lead("a", time.Minute) },
			func() {},
			func() { store.FailNext(1, nil) },
			func() { store.Lead("a", time.Minute) },
			func() { store.FailNext(1, errors.New("503")); store.Lead("b", time.Minute) },
			func() {},
			func() { store.Lead("b", time.Minute); store.Lead("c", time.Minute) },
			func() { store.PlantRaw([]byte("rubbish")) },
			func() { store.Lead("", time.Minute) },
			func() { store.Delete() },
			func() {},
		)
		cancel(errors.New("a cause"))
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the context's error", err)
		}
		want := []string{"/-1", "a/0", "a/1", "b/2", "c/4", "/0", "/-1"}
		if !slices.Equal(got, want) {
			t.Errorf("told of %q, want %q", got, want)
		}
		if reads, writes := store.Requests(); reads != 13 || writes != 0 {
			t.Errorf("%d reads and %d writes in 12 s, want one read at each second", reads, writes)
		}
	})
}

// TestUpdatesYieldsErrorsAndGoesOn, broken ones and bad entries too.
func TestUpdatesYieldsErrorsAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewDecider()
		store.Lead("a", time.Minute)
		var got []string
		n := 0
		for e, err := range (core.WatchConfig{Decider: store, PollInterval: time.Second}).Updates(t.Context()) {
			switch {
			case errors.Is(err, core.ErrBroken):
				got = append(got, "broken")
			case errors.Is(err, core.ErrBadEntry):
				got = append(got, "bad")
				if e.Token == nil || e.LeaderID != "" {
					t.Errorf("a bad entry came as %+v", e)
				}
			case err != nil:
				got = append(got, "unknown")
				if !e.Absent() || e.LeaderID != "" {
					t.Errorf("an error came with %+v", e)
				}
			default:
				got = append(got, e.LeaderID)
			}
			if n++; n == 6 {
				break
			}
			switch n {
			case 1:
				store.FailNext(1, core.ErrBroken)
			case 2:
				store.FailNext(2, nil)
			case 4:
				store.PlantRaw([]byte("{}"))
			case 5:
				store.Lead("b", time.Minute)
			}
		}
		if want := []string{"a", "broken", "unknown", "unknown", "bad", "b"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestUpdatesEndsWithItsLoop, and can be ranged over again.
func TestUpdatesEndsWithItsLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewDecider()
		updates := core.WatchConfig{Decider: store}.Updates(t.Context())
		for i := 1; i <= 2; i++ {
			for e, err := range updates {
				if !e.Absent() || err != nil {
					t.Errorf("%+v, %v", e, err)
				}
				break
			}
			time.Sleep(time.Hour)
			if reads, _ := store.Requests(); reads != i {
				t.Errorf("%d reads after %d loops of one step", reads, i)
			}
		}
	})
}

// TestWatchPollsByTheTermItSees, unless it was told how often.
func TestWatchPollsByTheTermItSees(t *testing.T) {
	for _, tc := range []struct {
		name       string
		term, poll time.Duration
		want       int // reads within a minute
	}{
		{"nothing there: as for the default term", 0, 0, 21},
		{"a fifth of the term", 10 * time.Second, 0, 31},
		{"half a second at least", time.Second, 0, 121},
		{"five seconds at most", time.Hour, 0, 13},
		{"as told", 10 * time.Second, 6 * time.Second, 11},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.NewDecider()
				if tc.term > 0 {
					store.Lead("a", tc.term)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute+1)
				defer cancel()
				err := core.WatchConfig{Decider: store, PollInterval: tc.poll}.Watch(ctx, func(context.Context, entry.RaceEntry) {})
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v", err)
				}
				if reads, _ := store.Requests(); reads != tc.want {
					t.Errorf("%d reads in a minute, want %d", reads, tc.want)
				}
			})
		})
	}
}

// TestWatchRefuses what can never work, without a panic.
func TestWatchRefuses(t *testing.T) {
	cb := func(context.Context, entry.RaceEntry) { t.Error("told of something") }
	var none *memory.Decider
	for name, tc := range map[string]struct {
		w    core.WatchConfig
		cb   func(context.Context, entry.RaceEntry)
		want error
	}{
		"no decider":       {core.WatchConfig{}, cb, core.ErrInvalidConfig},
		"a nil one":        {core.WatchConfig{Decider: none}, cb, core.ErrInvalidConfig},
		"a negative poll":  {core.WatchConfig{Decider: memory.NewDecider(), PollInterval: -1}, cb, core.ErrInvalidConfig},
		"no callback":      {core.WatchConfig{Decider: memory.NewDecider()}, nil, core.ErrInvalidConfig},
		"a broken store":   {core.WatchConfig{Decider: watchBroken()}, cb, core.ErrBroken},
		"an ended context": {core.WatchConfig{Decider: memory.NewDecider()}, cb, context.Canceled},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if name == "an ended context" {
			cancel()
		}
		if err := tc.w.Watch(ctx, tc.cb); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
		cancel()
	}
}

func watchBroken() *memory.Decider {
	d := memory.NewDecider()
	d.FailNext(1, fmt.Errorf("denied: %w", core.ErrBroken))
	return d
}

// watchHanging is a store that answers after an hour, whatever its context says.
type watchHanging struct{}

func (*watchHanging) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return nil, errors.New("not to be written")
}

func (*watchHanging) ReadCurrent(context.Context) (*entry.RaceEntry, error) {
	time.Sleep(time.Hour)
	return &entry.RaceEntry{ElectionNumber: entry.NoElections}, nil
}

// TestWatchOfAStoreThatHangs: a read is given up after five seconds, or after
// PollInterval if that is longer; a cancelled Watch returns at once.
func TestWatchOfAStoreThatHangs(t *testing.T) {
	for poll, want := range map[time.Duration]time.Duration{
		time.Second: 5 * time.Second, 0: 5 * time.Second, 20 * time.Second: 20 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			store := new(watchHanging)
			start := time.Now()
			for _, err := range (core.WatchConfig{Decider: store, PollInterval: poll}).Updates(t.Context()) {
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != want {
					t.Errorf("poll %v: %v after %v, want %v", poll, err, time.Since(start), want)
				}
				break
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start = time.Now()
			err := core.WatchConfig{Decider: store, PollInterval: poll}.Watch(ctx, func(context.Context, entry.RaceEntry) {})
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("poll %v: %v after %v, want the context's end after 1 s", poll, err, time.Since(start))
			}
			time.Sleep(2 * time.Hour) // the calls end, and no goroutine is left to the bubble
		})
	}
}

// TestWatchOfADeciderThatSaysNothing: neither an entry nor an error is an error.
func TestWatchOfADeciderThatSaysNothing(t *testing.T) {
	for e, err := range (core.WatchConfig{Decider: watchMute{}, Clock: clocks.DefaultClock()}).Updates(t.Context()) {
		if err == nil || !e.Absent() {
			t.Errorf("%+v, %v", e, err)
		}
		break
	}
}

type watchMute struct{}

func (watchMute) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return nil, nil
}
func (watchMute) ReadCurrent(context.Context) (*entry.RaceEntry, error) { return nil, nil }
