package gocronleader_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/cloudelect/cloudelect/adapters/gocronleader"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// go-co-op/gocron#841: jobs that take a millisecond, on instances that were started
// at different times. With an ordinary lock every instance runs every time.
func TestShortJobsOnInstancesThatAreOutOfStep(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for n, name := range []string{"a", "b", "c"} {
			i := w.instance(name, 0, schedule.Retry)
			defer i.shutdown(t)
			i.job(t, gocron.DurationJob(period), gocron.NewTask(func() { w.note(name); time.Sleep(time.Millisecond) }))
			time.Sleep(time.Duration(50+n) * time.Second)
		}
		time.Sleep(2 * time.Hour)
		wantOncePerSlot(t, w, 20)
	})
}

// Clocks an hour, and three minutes, apart: cron jobs start at other true times.
func TestClocksApart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for name, ahead := range map[string]time.Duration{"fast": time.Hour, "true": 0, "slow": -time.Hour, "odd": 3 * time.Minute} {
			i := w.instance(name, ahead, schedule.Skip)
			defer i.shutdown(t)
			i.job(t, gocron.CronJob("*/5 * * * *", false), gocron.NewTask(func() { w.note(name) }))
		}
		time.Sleep(2 * time.Hour)
		wantOncePerSlot(t, w, 20)
	})
}

func wantOncePerSlot(t *testing.T, w *world, atLeast int) {
	t.Helper()
	counts := w.perSlot()
	for slot, n := range counts {
		if n != 1 {
			t.Errorf("the slot of %v ran %d times", slot.Format(time.TimeOnly), n)
		}
	}
	if len(counts) < atLeast {
		t.Errorf("%d slots ran, want %d at least", len(counts), atLeast)
	}
}

// The instance that ran dies; the others go on.
func TestAnInstanceThatIsShutDown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.instance("a", 0, schedule.Retry), w.instance("b", 0, schedule.Retry)
		defer b.shutdown(t)
		for name, i := range map[string]*instance{"a": a, "b": b} {
			i.job(t, gocron.CronJob("*/5 * * * *", false), gocron.NewTask(func() { w.note(name) }))
		}
		time.Sleep(31 * time.Minute)
		a.shutdown(t)
		time.Sleep(30 * time.Minute)
		wantOncePerSlot(t, w, 12)
		if last := w.ran()[len(w.ran())-1]; last.who != "b" {
			t.Errorf("%q ran last", last.who)
		}
	})
}

// go-co-op/gocron#50: a lock that was not obtained means that the job is not run.
func TestLockErrorsKeepTheJobFromRunning(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.instance("a", 0, schedule.Retry)
		defer a.shutdown(t)
		var heard []error
		_, err := a.NewJob(gocron.CronJob("*/5 * * * *", false), gocron.NewTask(func() { w.note("a") }), gocron.WithName("report"),
			gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				heard = append(heard, err)
			})))
		if err != nil {
			t.Fatal(err)
		}
		store := w.store("report")
		store.Lead("somebody else", 7*time.Minute) // until 00:07
		time.Sleep(6 * time.Minute)
		store.PlantRaw([]byte("rubbish"))
		time.Sleep(5 * time.Minute)
		if runs := w.ran(); len(runs) != 0 {
			t.Errorf("it ran without a lock: %v", runs)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		var skipped *gocronleader.SkippedError
		if len(heard) != 2 || !errors.As(heard[0], &skipped) || !errors.Is(heard[0], gocronleader.ErrSkipped) ||
			skipped.Result.Outcome != schedule.Running || skipped.Result.Leader != "somebody else" ||
			!errors.Is(heard[1], core.ErrBadEntry) || errors.Is(heard[1], gocronleader.ErrSkipped) {
			t.Errorf("heard %v", heard)
		}
	})
}

// A job that fails on one instance runs on the next one, once it has a Task.
func TestTaskThatFails(t *testing.T) {
	for policy, want := range map[schedule.Policy]int{schedule.Retry: 2, schedule.Skip: 1} {
		bubble(t, func(t *testing.T, w *world) {
			for _, name := range []string{"a", "b"} {
				i := w.instance(name, 0, policy)
				defer i.shutdown(t)
				i.job(t, gocron.DurationJob(period), i.locker.Task("report", func(ctx context.Context, r *schedule.Run) error {
					w.note(name)
					if name == "a" {
						return errors.New("no paper")
					}
					return nil
				}))
				time.Sleep(time.Minute)
			}
			time.Sleep(period)
			if runs := w.ran(); len(runs) != want || runs[0].who != "a" {
				t.Errorf("policy %d: %v", policy, runs)
			}
		})
	}
}

func TestTaskThatPanics(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for _, name := range []string{"a", "b"} {
			i := w.instance(name, 0, schedule.Retry)
			defer i.shutdown(t)
			_, err := i.NewJob(gocron.DurationJob(period), i.locker.Task("report", func(context.Context, *schedule.Run) error {
				w.note(name)
				if name == "a" {
					panic("oh")
				}
				return nil
			}), gocron.WithName("report"), gocron.WithEventListeners(gocron.AfterJobRunsWithPanic(func(uuid.UUID, string, any) {})))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		time.Sleep(period)
		if runs := w.ran(); len(runs) != 2 {
			t.Errorf("%v", runs)
		}
	})
}

// The context of a Task ends when its leadership does, and another may run.
func TestTaskLosesItsLeadership(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.instance("a", 0, schedule.Retry)
		defer a.shutdown(t)
		ended := make(chan error, 1)
		a.job(t, gocron.DurationJob(period), a.locker.Task("report", func(ctx context.Context, r *schedule.Run) error {
			w.note("a")
			w.store("report").Lead("operator", time.Second)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil
		}))
		if cause := <-ended; !errors.Is(cause, core.ErrLeadershipLost) || len(w.ran()) != 1 {
			t.Errorf("cause %v, runs %v", cause, w.ran())
		}
	})
}

func TestTaskWithoutItsLocker(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		i := w.instance("a", 0, schedule.Retry)
		defer i.shutdown(t)
		failed := make(chan error, 1)
		_, err := i.NewJob(gocron.DurationJob(period), i.locker.Task("another name", func(context.Context, *schedule.Run) error {
			w.note("a")
			return nil
		}), gocron.WithName("report"), gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err })))
		if err != nil {
			t.Fatal(err)
		}
		if err := <-failed; len(w.ran()) != 0 {
			t.Errorf("it ran: %v", err)
		}
	})
}

// Nothing to do is the job's error, and leaves the slot to those who have something.
func TestTaskWithoutAFunction(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		i := w.instance("a", 0, schedule.Retry)
		defer i.shutdown(t)
		failed := make(chan error, 1)
		i.job(t, gocron.DurationJob(period), i.locker.Task("report", nil), gocron.WithEventListeners(
			gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err })))
		if err := <-failed; !strings.Contains(err.Error(), "no function") {
			t.Errorf("the job's error is %v", err)
		}
	})
}

// A job that outlasts its slot is not run beside itself.
func TestLongJobsAreRunOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for _, name := range []string{"a", "b"} {
			i := w.instance(name, 0, schedule.Retry)
			defer i.shutdown(t)
			i.job(t, gocron.CronJob("*/5 * * * *", false), gocron.NewTask(func() {
				w.note(name)
				time.Sleep(12 * time.Minute)
				w.note(name)
			}))
		}
		time.Sleep(79 * time.Minute) // gocron's Shutdown waits in a busy loop, in which a bubble's time stands still: not while a job runs
		runs := w.ran()
		for i := 0; i+1 < len(runs); i += 2 {
			if runs[i].who != runs[i+1].who || runs[i+1].at.Sub(runs[i].at) != 12*time.Minute {
				t.Errorf("two ran at once: %v", runs)
			}
		}
		if len(runs) < 6 {
			t.Errorf("%v", runs)
		}
	})
}

func TestRequestsOfALock(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.instance("a", 0, schedule.Retry), w.instance("b", 0, schedule.Retry)
		defer a.shutdown(t)
		defer b.shutdown(t)
		lock, err := a.locker.Lock(context.Background(), "report")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.locker.Lock(context.Background(), "report"); !errors.Is(err, gocronleader.ErrSkipped) {
			t.Error(err)
		}
		if err := lock.Unlock(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := b.locker.Lock(context.Background(), "report"); !errors.Is(err, gocronleader.ErrSkipped) {
			t.Error(err)
		}
		if r, wr := w.store("report").Requests(); r != 3 || wr != 2 {
			t.Errorf("one run and two who came in vain took %d reads and %d writes", r, wr)
		}
	})
}

func TestUnlockWithAStoreThatIsDown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		store := w.store("report")
		l, err := gocronleader.NewLocker(gocronleader.LockerConfig{
			Election: core.Config{LeaderID: "a", ResignWithin: time.Second},
			Decider:  func(string) core.RaceDecider { return store },
			Slot:     schedule.Every(period, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		lock, err := l.Lock(context.Background(), "report")
		if err != nil {
			t.Fatal(err)
		}
		store.FailNext(1000, errNet)
		if err := lock.Unlock(context.Background()); !errors.Is(err, schedule.ErrNotRecorded) {
			t.Errorf("Unlock: %v", err)
		}
		if _, err := l.Lock(context.Background(), "report"); !errors.Is(err, errNet) {
			t.Errorf("Lock: %v", err)
		}
	})
}

func TestErrorsOfNewLocker(t *testing.T) {
	good := gocronleader.LockerConfig{
		Election: core.Config{LeaderID: "a"}, Slot: schedule.Every(period, nil),
		Decider: func(string) core.RaceDecider { return nil },
	}
	for _, spoil := range []func(c *gocronleader.LockerConfig){
		func(c *gocronleader.LockerConfig) { c.Election.LeaderID = "" },
		func(c *gocronleader.LockerConfig) { c.Slot = schedule.Slot{} },
		func(c *gocronleader.LockerConfig) { c.Slot = schedule.Named("") },
		func(c *gocronleader.LockerConfig) { c.Slot = schedule.Every(0, nil) },
		func(c *gocronleader.LockerConfig) {
			c.Slot = schedule.Every(period, &schedule.EveryOptions{Offset: period})
		},
		func(c *gocronleader.LockerConfig) { c.Decider = nil },
		func(c *gocronleader.LockerConfig) { c.OnFailure = 9 },
	} {
		c := good
		spoil(&c)
		if _, err := gocronleader.NewLocker(c); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	l, err := gocronleader.NewLocker(good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Lock(context.Background(), "x"); !errors.Is(err, core.ErrInvalidConfig) {
		t.Error(err)
	}
}
