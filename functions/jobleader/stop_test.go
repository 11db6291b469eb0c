package jobleader_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/jobleader"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// Who stops a process signals it and then its group: that is one request to stop.
func TestSignalsWithinASecondCountOnce(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Decider) {
		k := newTask(store, "a").start(obeys(5 * time.Second))
		k.signals <- syscall.SIGTERM
		k.signals <- syscall.SIGTERM
		time.Sleep(time.Second - time.Nanosecond)
		k.signals <- syscall.SIGINT
		k.want(t, 143, "the process got the signal terminated")
		if leader(store) != "" {
			t.Error("it did not resign")
		}
	})
}

// What ended the context given to Run is what ended the task: the store was fine, and
// there was no signal.
func TestContextEnds(t *testing.T) {
	own := func(ctx context.Context, _ *core.Leadership) error {
		<-ctx.Done()
		return errors.New("half of the file is gone")
	}
	wraps := func(ctx context.Context, _ *core.Leadership) error {
		<-ctx.Done()
		return fmt.Errorf("half way: %w", ctx.Err())
	}
	waits := func(store *memory.Decider) { store.Lead("other", time.Hour) }
	for _, c := range []struct {
		name  string
		cause error // nil: the deadline
		setup func(*memory.Decider)
		work  jobleader.Work
		code  int
		says  string
	}{
		{"cancelled", context.Canceled, nil, obeys(0), 143, "the context given to Run has ended"},
		{"deadline", nil, nil, obeys(0), 143, "the context given to Run has ended"},
		{"deadline, and the work says where", nil, nil, wraps, 143, "half way"},
		{"cancelled, and the work says where", context.Canceled, nil, wraps, 143, "half way"},
		{"a cause", errors.New("the quota is used up"), nil, obeys(0), 143, "the quota is used up"},
		{"a cause with a code", codeError(7), nil, obeys(0), 7, "status 7"},
		{"a cause with a code, and the work says where", codeError(7), nil, wraps, 7, "half way"},
		{"a cause with no code", codeError(0), nil, obeys(0), 143, "status 0"},
		{"the work succeeds", nil, nil, func(ctx context.Context, _ *core.Leadership) error { <-ctx.Done(); return nil }, 0, ""},
		{"the work fails", nil, nil, own, 1, "half of the file"},
		{"the work fails beside a cause", codeError(7), nil, own, 1, "half of the file"},
		{"ignored", nil, nil, func(context.Context, *core.Leadership) error { time.Sleep(time.Hour); return nil }, 143, "did not stop within 9s"},
		{"cancelled while waiting", context.Canceled, waits, obeys(0), 143, "the context given to Run has ended"},
		{"deadline while waiting", nil, waits, obeys(0), 143, "the context given to Run has ended"},
		{"a code while waiting", codeError(7), waits, obeys(0), 7, "status 7"},
	} {
		for _, slot := range []schedule.Slot{{}, schedule.Named("x")} {
			t.Run(c.name+" "+slot.String(), func(t *testing.T) {
				bubble(t, func(t *testing.T, store *memory.Decider) {
					if c.setup != nil {
						c.setup(store)
					}
					ctx, cancel := context.WithCancelCause(context.Background())
					defer cancel(nil)
					if c.cause == nil {
						limited, release := context.WithTimeout(ctx, time.Minute)
						defer release()
						ctx = limited
					} else {
						time.AfterFunc(time.Minute, func() { cancel(c.cause) })
					}
					k := newTask(store, "a")
					k.Slot = slot
					code := jobleader.Run(ctx, k.Config, c.work)
					if got := k.stderr.String(); code != c.code || (c.says == "") != (got == "") || !says(got, c.says) {
						t.Errorf("exit code %d (%s), want %d and %q", code, got, c.code, c.says)
					}
					if leader(store) == "a" && c.name != "ignored" {
						t.Error("it did not resign")
					}
					k = newTask(store, "a")
					k.Slot = slot
					if again := jobleader.Run(ctx, k.Config, returns(nil)); c.name != "ignored" && again != c.code && c.code > 1 {
						t.Errorf("exit code %d for a context that has ended already, want %d", again, c.code)
					}
					time.Sleep(2 * time.Hour) // for work that ignores it
				})
			})
		}
	}
}

// Trying again would do the work again.
func TestWorkMustNotResignFromASlot(t *testing.T) {
	resigns := func(err error) jobleader.Work {
		return func(ctx context.Context, l *core.Leadership) error { return errors.Join(l.Resign(ctx), err) }
	}
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		bubble(t, func(t *testing.T, store *memory.Decider) {
			k := newTask(store, "a")
			k.Slot, k.OnFailure = schedule.Named("x"), policy
			k.start(resigns(nil)).want(t, 70, "the work must not resign")
			k = newTask(store, "b")
			k.Slot, k.OnFailure = schedule.Named("y"), policy
			k.start(resigns(errors.New("no paper"))).want(t, 1, "no paper")
		})
	}
	bubble(t, func(t *testing.T, store *memory.Decider) { // without a slot nothing is lost
		newTask(store, "a").start(resigns(nil)).want(t, 0, "")
	})
}

// The message is about what was not done: the work had stopped.
func TestResignationHangsLongerThanTheGracePeriod(t *testing.T) {
	for _, slot := range []schedule.Slot{{}, schedule.Named("x")} {
		bubble(t, func(t *testing.T, store *memory.Decider) {
			k := newTask(store, "a")
			k.Slot, k.GracePeriod = slot, 3*time.Second
			k.start(obeys(0))
			k.store.FailNext(1000, errNet)
			k.signals <- syscall.SIGTERM
			k.want(t, 143, "the work had stopped, but the store did not confirm within 3s that it has resigned")
			if got := k.stderr.String(); !says(got, "the next leader waits for the end of the term") || says(got, "the slot may not be") == slot.IsZero() {
				t.Error(got)
			}
			time.Sleep(time.Minute)
		})
	}
}

// What one field makes meaningless of another is refused before anything is sent.
func TestContradictions(t *testing.T) {
	for want, setup := range map[string]func(k *task){
		"WaitAtMost and Once are both set": func(k *task) { k.Once, k.Election.WaitAtMost = true, time.Second },
		"LeaveQuietly is set":              func(k *task) { k.LeaveQuietly = true },
		"OnFailure is set, but no Slot":    func(k *task) { k.OnFailure = schedule.Skip },
		"nobody would renew":               func(k *task) { k.Election.ManualRenew = true },
	} {
		bubble(t, func(t *testing.T, store *memory.Decider) {
			k := newTask(store, "a")
			setup(k)
			k.start(returns(nil)).want(t, 64, want)
		})
	}
	k := newTask(memory.NewDecider(), "a")
	var none context.Context
	if code := jobleader.Run(none, k.Config, returns(nil)); code != 64 || !says(k.stderr.String(), "the context is nil") {
		t.Errorf("a nil context: exit code %d (%s)", code, &k.stderr)
	}
}

func says(text, part string) bool { return strings.Contains(text, part) }
