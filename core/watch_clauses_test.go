package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// asked is a store that counts its reads and notes when each came.
type asked struct {
	answer func(ctx context.Context, n int) (*entry.RaceEntry, error)
	mu     sync.Mutex
	at     []time.Time
}

func (a *asked) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	a.mu.Lock()
	a.at = append(a.at, time.Now())
	n := len(a.at)
	a.mu.Unlock()
	return a.answer(ctx, n)
}

func (*asked) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return nil, errors.New("a watcher wrote")
}

func (a *asked) reads() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.at)
}

// from answers with what is in store.
func from(store *memory.Decider) *asked {
	return &asked{answer: func(ctx context.Context, _ int) (*entry.RaceEntry, error) { return store.ReadCurrent(ctx) }}
}

// TestWatchReadsNothingDuringASlowCallback, and then tells it of the newest version only.
func TestWatchReadsNothingDuringASlowCallback(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		d := from(w.store)
		w.store.Lead("a", term)
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second+1)
		defer cancel()
		var got []entry.ElectionNumber
		core.WatchConfig{Decider: d, PollInterval: poll}.Watch(ctx, func(_ context.Context, e entry.RaceEntry) {
			if got = append(got, e.ElectionNumber); len(got) > 1 {
				return
			}
			for range 10 {
				time.Sleep(time.Second)
				w.store.Lead("a", term)
			}
			if n := len(d.reads()); n != 1 {
				t.Errorf("%d reads while the callback ran", n-1)
			}
		})
		if want := []entry.ElectionNumber{0, 10}; !slices.Equal(got, want) {
			t.Errorf("told of %v, want %v", got, want)
		}
		if n := len(d.reads()); n != 3 { // at 0, 11 and 12 s
			t.Errorf("%d reads in 12 s, want 3", n)
		}
	})
}

// TestUpdatesDoesNotRepeatAVersionAfterErrors of any kind; each failed read is told.
func TestUpdatesDoesNotRepeatAVersionAfterErrors(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stored := w.store.Lead("a", term)
		script := []error{nil, errors.New("503"), core.ErrBroken, nil,
			fmt.Errorf("%w: rubbish", core.ErrBadEntry), fmt.Errorf("%w: rubbish", core.ErrBadEntry), nil, nil}
		d := &asked{answer: func(_ context.Context, n int) (*entry.RaceEntry, error) {
			e := stored.Clone()
			return &e, script[min(n, len(script))-1]
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 20*poll)
		defer cancel()
		var got []string
		for e, err := range (core.WatchConfig{Decider: d, PollInterval: poll}).Updates(ctx) {
			if err != nil && (e.LeaderID != "" || !e.Absent()) {
				t.Errorf("%v came with the entry %+v", err, e)
			}
			got = append(got, fmt.Sprint(e.LeaderID, err))
		}
		bad := fmt.Sprint(script[4])
		if want := []string{"a<nil>", "503", fmt.Sprint(core.ErrBroken), bad, bad}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestOnUnchangedTellsThatReadsWorkAgain, once for every read that finds the version
// that is known, and on the loop's goroutine.
func TestOnUnchangedTellsThatReadsWorkAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		stored := w.store.Lead("a", term)
		script := []error{nil, errors.New("503"), nil, core.ErrBadEntry, nil, nil}
		d := &asked{answer: func(_ context.Context, n int) (*entry.RaceEntry, error) {
			e := stored.Clone()
			return &e, script[min(n, len(script))-1]
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*poll+1)
		defer cancel()
		var got []string
		watch := core.WatchConfig{Decider: d, PollInterval: poll, OnUnchanged: func() { got = append(got, "unchanged") }}
		for e, err := range watch.Updates(ctx) {
			got = append(got, fmt.Sprint(e.LeaderID, err))
		}
		if want := []string{"a<nil>", "503", "unchanged", fmt.Sprint(core.ErrBadEntry), "unchanged", "unchanged"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestUpdatesTellsOfADeletion of what was no entry: nothing is stored again.
func TestUpdatesTellsOfADeletion(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var got []string
		for e, err := range (core.WatchConfig{Decider: w.store, PollInterval: poll}).Updates(t.Context()) {
			got = append(got, fmt.Sprint(e.Absent(), errors.Is(err, core.ErrBadEntry), err != nil))
			switch len(got) {
			case 1:
				w.store.FailNext(1, nil)
			case 2: // nothing is stored all the time: that is not told anew
				time.AfterFunc(3*poll/2, func() { w.store.PlantRaw([]byte("rubbish")) })
			case 3:
				w.store.Delete()
			}
			if len(got) == 4 {
				break
			}
		}
		if want := []string{"true false false", "true false true", "true true true", "true false false"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestWatchOfANilContext is a fault of the caller's, told as one.
func TestWatchOfANilContext(t *testing.T) {
	var none context.Context
	watch := core.WatchConfig{Decider: memory.NewDecider()}
	told := 0
	for _, err := range watch.Updates(none) {
		if told++; !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), "context is nil") {
			t.Errorf("Updates: %v", err)
		}
	}
	err := watch.Watch(none, func(context.Context, entry.RaceEntry) { t.Error("told of something") })
	if !errors.Is(err, core.ErrInvalidConfig) || told != 1 {
		t.Errorf("Watch: %v; Updates yielded %d times", err, told)
	}
}

// TestUpdatesBelievesNoDecider: an entry that is none is an ErrBadEntry, though the
// decider says nothing; and a decider may hand out the same entry again, changed.
func TestUpdatesBelievesNoDecider(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		e := w.store.Lead("a", term)
		d := &asked{answer: func(_ context.Context, n int) (*entry.RaceEntry, error) {
			switch n {
			case 2:
				e.ElectionNumber++
			case 3:
				e.TermLength = 0
			case 4:
				return &entry.RaceEntry{ElectionNumber: entry.NoElections, LeaderID: "nobody"}, nil
			}
			return &e, nil
		}}
		var got []string
		for e, err := range (core.WatchConfig{Decider: d, PollInterval: poll}).Updates(t.Context()) {
			if bad := errors.Is(err, core.ErrBadEntry); bad {
				got = append(got, "bad"+e.LeaderID)
			} else {
				got = append(got, fmt.Sprint(e.ElectionNumber))
			}
			if len(got) == 4 {
				break
			}
		}
		if want := []string{"0", "1", "bad", "bad"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestUpdatesOfAnEndedRequest: the context's end is not told as an error of the store.
func TestUpdatesOfAnEndedRequest(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		d := &asked{answer: func(ctx context.Context, _ int) (*entry.RaceEntry, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(core.ErrBroken) })
		for e, err := range (core.WatchConfig{Decider: d}).Updates(ctx) {
			t.Errorf("told of %+v, %v", e, err)
		}
		if n := len(d.reads()); n != 1 {
			t.Errorf("%d reads, want 1", n)
		}
	})
}

// TestUpdatesIsLoopedOverTwiceAtOnce: loops share nothing.
func TestUpdatesIsLoopedOverTwiceAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("a", term)
		updates := core.WatchConfig{Decider: w.store, PollInterval: poll}.Updates(t.Context())
		for range 2 {
			w.run(func() {
				for e, err := range updates {
					if e.LeaderID != "a" || err != nil {
						t.Errorf("%+v, %v", e, err)
					}
					break
				}
			})
		}
	})
}

// TestWakeMakesAWatcherReadNow, once per 100 ms at most; the next poll is a whole
// PollInterval later.
func TestWakeMakesAWatcherReadNow(t *testing.T) {
	for _, tc := range []struct {
		name string
		play func(wake chan struct{})
		want []time.Duration
	}{
		{"never woken", func(chan struct{}) {}, []time.Duration{0, 10 * time.Second, 20 * time.Second}},
		{"once", func(wake chan struct{}) {
			time.Sleep(3 * time.Second)
			wake <- struct{}{}
		}, []time.Duration{0, 3 * time.Second, 13 * time.Second, 23 * time.Second}},
		{"all the time", func(wake chan struct{}) {
			for range 35 {
				select {
				case wake <- struct{}{}:
				default:
				}
				time.Sleep(10 * time.Millisecond)
			}
		}, []time.Duration{0, 0, 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond,
			400 * time.Millisecond, 500 * time.Millisecond, 10500 * time.Millisecond, 20500 * time.Millisecond}},
		{"closed", func(wake chan struct{}) { close(wake) }, []time.Duration{0, 10 * time.Second, 20 * time.Second}},
		{"closed later", func(wake chan struct{}) {
			time.Sleep(13 * time.Second)
			close(wake)
		}, []time.Duration{0, 10 * time.Second, 20 * time.Second}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				d, wake, start := from(w.store), make(chan struct{}, 1), time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
				defer cancel()
				w.run(func() { tc.play(wake) })
				core.WatchConfig{Decider: d, PollInterval: 10 * time.Second, Wake: wake}.Watch(ctx, func(context.Context, entry.RaceEntry) {})
				var got []time.Duration
				for _, at := range d.reads() {
					got = append(got, at.Sub(start))
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("reads at %v, want %v", got, tc.want)
				}
			})
		})
	}
}

// TestAWakeDuringARead is not lost: what it tells of may have come after the answer.
func TestAWakeDuringARead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		wake := make(chan struct{}, 1)
		d := &asked{answer: func(ctx context.Context, n int) (*entry.RaceEntry, error) {
			e, err := w.store.ReadCurrent(ctx)
			if n == 1 {
				w.store.Lead("a", term)
				wake <- struct{}{}
			}
			return e, err
		}}
		start := time.Now()
		for e := range (core.WatchConfig{Decider: d, PollInterval: time.Hour, Wake: wake}).Updates(t.Context()) {
			if e.LeaderID == "a" {
				break
			}
		}
		if passed := time.Since(start); passed > 100*time.Millisecond {
			t.Errorf("the change was seen after %v", passed)
		}
	})
}

// TestAnEndedContextDoesNotWaitForAWake, nor for the gap between two of them.
func TestAnEndedContextDoesNotWaitForAWake(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		wake := make(chan struct{}, 1)
		for _, after := range []time.Duration{time.Second, 1050 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			start := time.Now()
			w.run(func() {
				time.Sleep(time.Second)
				wake <- struct{}{}
				time.Sleep(20 * time.Millisecond)
				select {
				case wake <- struct{}{}:
				default:
				}
			})
			core.WatchConfig{Decider: w.store, PollInterval: time.Hour, Wake: wake}.Watch(ctx, func(context.Context, entry.RaceEntry) {})
			if passed := time.Since(start); passed != after {
				t.Errorf("Watch returned after %v, want %v", passed, after)
			}
			cancel()
			time.Sleep(time.Second)
			for len(wake) > 0 {
				<-wake
			}
		}
	})
}

// TestWatchNamesEveryFault of its configuration at once.
func TestWatchNamesEveryFault(t *testing.T) {
	for e, err := range (core.WatchConfig{PollInterval: -time.Second}).Updates(t.Context()) {
		if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), "Decider is nil") || !strings.Contains(err.Error(), "-1s") {
			t.Errorf("%v", err)
		}
		if !e.Absent() {
			t.Errorf("it came with %+v", e)
		}
	}
}

// foreignVersion is the token of an entry in another library's form, which tells no length.
type foreignVersion struct{}

func (foreignVersion) CommitTS() time.Time { return time.Time{} }
func (foreignVersion) Foreign() string     { return "another library" }

// TestWatchPollsAForeignEntryAsByDefault: it does not say how long its term is.
func TestWatchPollsAForeignEntryAsByDefault(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		d := &asked{answer: func(context.Context, int) (*entry.RaceEntry, error) {
			return &entry.RaceEntry{LeaderID: "theirs", TermExpiry: time.Now().Truncate(time.Hour).Add(time.Hour), Token: foreignVersion{}}, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute-1)
		defer cancel()
		told := 0
		core.WatchConfig{Decider: d}.Watch(ctx, func(_ context.Context, e entry.RaceEntry) { told++ })
		if n := len(d.reads()); n != 20 || told != 1 {
			t.Errorf("%d reads in a minute and %d versions, want 20 and 1", n, told)
		}
	})
}
