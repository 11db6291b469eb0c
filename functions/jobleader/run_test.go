package jobleader_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
	"github.com/cloudelect/cloudelect/functions/jobleader"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

const term = 15 * time.Second

var errNet = errors.New("connection reset by peer")

// task is a process, as a platform sees it.
type task struct {
	jobleader.Config
	store   *memory.Decider
	signals chan os.Signal
	stderr  bytes.Buffer
	code    int
	done    chan struct{}
}

func newTask(store *memory.Decider, name string) *task {
	t := &task{store: store.Handle(), signals: make(chan os.Signal, 8), done: make(chan struct{})}
	t.Config = jobleader.Config{Signals: t.signals, Stderr: &t.stderr,
		Election: core.Config{LeaderID: name, Decider: t.store, TermLength: term}}
	return t
}

func (k *task) start(work jobleader.Work) *task {
	go func() {
		defer close(k.done)
		k.code = jobleader.Run(context.Background(), k.Config, work)
	}()
	synctest.Wait()
	return k
}

func (k *task) want(t *testing.T, code int, says string) {
	t.Helper()
	<-k.done
	if k.code != code || !strings.Contains(k.stderr.String(), says) || says == "" && k.stderr.Len() > 0 {
		t.Errorf("exit code %d (%s), want %d and %q", k.code, &k.stderr, code, says)
	}
}

func bubble(t *testing.T, play func(t *testing.T, store *memory.Decider)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewDecider()
		store.SetClock(clocks.DefaultClock())
		play(t, store)
	})
	goleak.VerifyNone(t)
}

func leader(store *memory.Decider) string {
	e, _ := store.Stored()
	return e.LeaderID
}

func returns(err error) jobleader.Work {
	return func(context.Context, *core.Leadership) error { return err }
}

// obeys works until it is told to stop, and then for d.
func obeys(d time.Duration) jobleader.Work {
	return func(ctx context.Context, l *core.Leadership) error {
		<-ctx.Done()
		time.Sleep(d)
		return context.Cause(ctx)
	}
}

type codeError int

func (e codeError) Error() string { return fmt.Sprintf("status %d", int(e)) }
func (e codeError) ExitCode() int { return int(e) }

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(k *task)
		work  jobleader.Work
		code  int
		says  string
	}{
		{"done", nil, returns(nil), 0, ""},
		{"the work fails", nil, returns(errors.New("no paper")), 1, "no paper"},
		{"the work knows its code", nil, returns(fmt.Errorf("sh: %w", codeError(3))), 3, "status 3"},
		{"a code that is none", nil, returns(codeError(-1)), 1, "status -1"},
		{"no work", nil, nil, 64, "no work"},
		{"a bad Config", func(k *task) { k.Election.LeaderID = ""; k.GracePeriod = -1 }, returns(nil), 64, "GracePeriod"},
		{"no store", func(k *task) { k.Election.Decider = nil }, returns(nil), 64, "Decider"},
		{"somebody leads", func(k *task) { k.Once = true; k.store.Lead("other", time.Minute) }, returns(nil), 75, `"other"`},
		{"somebody leads for long", func(k *task) { k.Election.WaitAtMost = 10 * time.Second; k.store.Lead("other", time.Minute) }, returns(nil), 75, `"other"`},
		{"quietly", func(k *task) { k.Once, k.LeaveQuietly = true, true; k.store.Lead("other", time.Minute) }, returns(nil), 0, "left quietly"},
		{"the store is down", func(k *task) { k.Once = true; k.store.FailNext(9, errNet) }, returns(nil), 69, "connection reset"},
		{"the store is broken", func(k *task) { k.store.FailNext(1, core.ErrBroken) }, returns(nil), 78, "cannot carry"},
		{"no entry", func(k *task) { k.Once = true; k.store.PlantRaw([]byte("hello")) }, returns(nil), 78, "bad entry"},
		{"a foreign checkpoint", func(k *task) {
			k.Slot = schedule.Named("x")
			e := k.store.Lead("", term)
			e.Checkpoint = []byte("line 700")
			k.store.Plant(e)
		}, returns(nil), 78, "line 700"},
		{"the work ends its goroutine", nil, func(context.Context, *core.Leadership) error { runtime.Goexit(); return nil }, 70, "Goexit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *memory.Decider) {
				k := newTask(store, "a")
				if c.setup != nil {
					c.setup(k)
				}
				k.start(c.work).want(t, c.code, c.says)
				if who := leader(store); who != "" && who != "other" {
					t.Errorf("%q still leads", who)
				}
			})
		})
	}
}

// The work's context ends first, the work is waited for, then comes the resignation.
func TestSignalWhileWorking(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		bubble(t, func(t *testing.T, store *memory.Decider) {
			k := newTask(store, "a").start(obeys(8 * time.Second))
			time.Sleep(time.Minute)
			k.signals <- sig
			time.Sleep(8*time.Second - time.Millisecond)
			if leader(store) != "a" {
				t.Error("it resigned before the work had stopped")
			}
			k.want(t, code, "signal")
			if leader(store) != "" {
				t.Error("it did not resign")
			}
		})
	}
}

func TestWorkThatFinishesAfterASignalHasSucceeded(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		k := newTask(store, "a").start(func(ctx context.Context, l *core.Leadership) error {
			<-ctx.Done()
			return l.Check() // the leadership goes on until the work has stopped
		})
		k.signals <- syscall.SIGTERM
		k.want(t, 0, "")
	})
}

// A signal must not wait for the platform's patience to end.
func TestWorkThatIgnoresTheSignal(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		stopped := make(chan struct{})
		k := newTask(store, "a").start(func(context.Context, *core.Leadership) error {
			time.Sleep(time.Hour)
			close(stopped)
			return nil
		})
		began := time.Now()
		k.signals <- syscall.SIGTERM
		k.want(t, 143, "did not stop within 9s")
		if took := time.Since(began); took >= 10*time.Second {
			t.Errorf("it took %v", took)
		}
		if leader(store) != "a" {
			t.Error("it resigned beside its own work")
		}
		<-stopped // in a process of its own os.Exit would have ended it
	})
}

func TestSecondSignal(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		k := newTask(store, "a").start(obeys(5 * time.Second))
		began := time.Now()
		k.signals <- syscall.SIGTERM
		time.Sleep(time.Second)
		k.signals <- syscall.SIGINT
		k.want(t, 130, "second signal")
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Minute)
	})
}

func TestSignalWhileWaiting(t *testing.T) {
	for _, slot := range []schedule.Slot{{}, schedule.Named("x")} {
		bubble(t, func(t *testing.T, store *memory.Decider) {
			store.Lead("other", time.Hour)
			k := newTask(store, "a")
			k.Slot = slot
			k.start(returns(nil))
			time.Sleep(time.Minute)
			began := time.Now()
			k.signals <- syscall.SIGTERM
			k.want(t, 143, "signal")
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A store that hangs while resigning does not keep the process for longer than
// its grace period.
func TestStoreDownWhileStopping(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		k := newTask(store, "a").start(obeys(0))
		k.store.FailNext(1000, errNet)
		began := time.Now()
		k.signals <- syscall.SIGTERM
		k.want(t, 143, "the store did not confirm within 9s that it has resigned: the next leader waits")
		if took := time.Since(began); took >= 10*time.Second {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Minute)
	})
}

func TestLeadershipLost(t *testing.T) {
	for _, slot := range []schedule.Slot{{}, schedule.Named("x")} {
		for _, takes := range []time.Duration{0, time.Hour} {
			bubble(t, func(t *testing.T, store *memory.Decider) {
				k := newTask(store, "a")
				k.Slot = slot
				k.start(func(ctx context.Context, l *core.Leadership) error {
					<-ctx.Done()
					time.Sleep(takes)
					return nil
				})
				store.Lead("operator", time.Minute)
				k.want(t, 76, "leadership lost")
				if leader(store) != "operator" {
					t.Error("the operator's entry was overwritten")
				}
				time.Sleep(2 * takes)
			})
		}
	}
}

func TestStoreDownWhileWorking(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		k := newTask(store, "a").start(obeys(0))
		k.store.FailNext(1000, errNet)
		k.want(t, 76, "term expired")
	})
}

func TestNotResignedIsNoFailure(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		k := newTask(store, "a")
		k.start(func(context.Context, *core.Leadership) error {
			k.store.FailNext(1000, errNet)
			return nil
		})
		k.want(t, 0, "resignation not confirmed")
	})
}

func TestPanicGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		k := newTask(store, "a")
		var panicked any
		func() {
			defer func() { panicked = recover() }()
			jobleader.Run(context.Background(), k.Config, func(context.Context, *core.Leadership) error { panic("oh") })
		}()
		if s, _ := panicked.(string); !strings.Contains(s, "oh") || !strings.Contains(s, "run_test.go") {
			t.Errorf("the panic does not say where it comes from: %v", panicked)
		}
		if leader(store) != "" {
			t.Error("it did not resign")
		}
	})
}

// Of the tasks of an execution exactly one works, however far apart they
// start; all of them do the rest.
func TestOneTaskOfMany(t *testing.T) {
	for _, wait := range []time.Duration{0, time.Hour} {
		bubble(t, func(t *testing.T, store *memory.Decider) {
			var mu sync.Mutex
			works, rests, early := 0, 0, 0
			done := false
			for n := range 10 {
				k := newTask(store, fmt.Sprint("task-", n))
				k.Election.Clock = skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: time.Duration(n%3-1) * time.Hour})
				k.Election.WaitAtMost = wait
				k.Slot = schedule.Named("execution-1")
				k.Rest = func(context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					rests++
					if !done {
						early++
					}
					return nil
				}
				k.start(func(context.Context, *core.Leadership) error {
					time.Sleep(20 * time.Second)
					mu.Lock()
					defer mu.Unlock()
					works++
					done = true
					return nil
				})
				defer k.want(t, 0, "")
				time.Sleep(time.Duration(n) * time.Second)
			}
			time.Sleep(time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if works != 1 || rests != 10 {
				t.Errorf("the singleton part ran %d times, the rest %d times", works, rests)
			}
			if wait > 0 && early > 0 || wait == 0 && early == 0 {
				t.Errorf("with WaitAtMost %v %d tasks did not wait", wait, early)
			}
		})
	}
}

// The rest may need what the singleton part has made.
func TestRestIsNotDoneAfterASingletonPartThatFailed(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		rest := func(context.Context) error { t.Error("the rest was done"); return nil }
		a, b := newTask(store, "a"), newTask(store, "b")
		for _, k := range []*task{a, b} {
			k.Slot, k.OnFailure, k.Rest, k.Election.WaitAtMost = schedule.Named("x"), schedule.Skip, rest, time.Hour
		}
		a.start(func(context.Context, *core.Leadership) error { time.Sleep(time.Minute); return errors.New("no paper") })
		b.start(returns(nil))
		a.want(t, 1, "no paper")
		b.want(t, 75, "begun before")
	})
}

func TestRestFails(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		k := newTask(store, "a")
		k.Rest = func(context.Context) error { return errors.New("no rest") }
		k.start(returns(nil)).want(t, 1, "no rest")

		k = newTask(store, "b")
		k.Rest = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		k.start(returns(nil))
		k.signals <- syscall.SIGTERM
		k.want(t, 143, "signal")
	})
}

func TestTasksThatFindTheSlotDoneLeaveWithZero(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		for i := range 3 {
			k := newTask(store, fmt.Sprint(i))
			k.Slot = schedule.Named("execution-1")
			work, says := returns(nil), ""
			if i > 0 {
				work, says = returns(errors.New("done again")), "slot execution-1 was done before"
			}
			k.start(work).want(t, 0, says)
		}
	})
}
