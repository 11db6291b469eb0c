package schedule_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

func TestWorkThatFails(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		slot := at(0)
		w.trigger(a, slot, w.fails, schedule.Failed, errWork)
		w.trigger(a, slot, w.takes(0), schedule.Ran, nil) // at once: it resigned
		w.trigger(a, slot, w.takes(0), schedule.Done, nil)
		w.wantRuns(2)

		a.OnFailure = schedule.Skip
		time.Sleep(time.Minute)
		slot = at(0)
		w.trigger(a, slot, w.fails, schedule.Failed, errWork)
		w.trigger(a, slot, w.takes(0), schedule.Begun, nil)
		w.wantRuns(3)
		time.Sleep(time.Minute)
		w.trigger(a, at(0), w.takes(0), schedule.Ran, nil)
	})
}

// dies is work in whose middle the process is killed: from then on nothing of
// it reaches the store, and its renewals fail.
func (w *world) dies(h *host) schedule.Work {
	return func(ctx context.Context, r *schedule.Run) error {
		_ = w.takes(0)(ctx, r)
		h.door.set(func(d *door) { d.shut = errNet })
		<-ctx.Done() // at the end of its term
		return context.Cause(ctx)
	}
}

func TestKilledHalfWay(t *testing.T) {
	for _, c := range []struct {
		policy schedule.Policy
		want   schedule.Outcome
		runs   int
	}{{schedule.Retry, schedule.Ran, 2}, {schedule.Skip, schedule.Begun, 1}} {
		bubble(t, func(t *testing.T, w *world) {
			a, b := w.host("a", 0), w.host("b", -time.Hour)
			a.OnFailure, b.OnFailure = c.policy, c.policy
			slot := at(0)
			var dying sync.WaitGroup
			dying.Go(func() { w.trigger(a, slot, w.dies(a), schedule.Failed, core.ErrTermExpired) })
			time.Sleep(time.Second)
			if c.policy == schedule.Retry {
				res := w.trigger(b, slot, w.takes(0), schedule.Running, nil)
				if res.RetryAfter < term-2*time.Second || res.RetryAfter > term+3*time.Second {
					t.Errorf("RetryAfter is %v", res.RetryAfter)
				}
			} else {
				w.trigger(b, slot, w.takes(0), schedule.Begun, nil)
			}
			time.Sleep(term + 2*time.Second)
			w.trigger(b, slot, w.takes(0), c.want, nil)
			w.wantRuns(c.runs)
			dying.Wait()
			// The next slot runs whatever became of this one.
			w.trigger(b, at(0), w.takes(0), schedule.Ran, nil)
		})
	}
}

func TestSkipThenRetry(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		a.OnFailure = schedule.Skip
		slot := at(0)
		w.trigger(a, slot, w.fails, schedule.Failed, errWork)
		a.OnFailure = schedule.Retry // somebody has thought better of it
		w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
	})
}

func TestWorkThatPanics(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		bubble(t, func(t *testing.T, w *world) {
			a := w.host("a", 0)
			a.OnFailure = policy
			slot := at(0)
			func() {
				defer func() {
					if recover() != "oh" {
						t.Error("the panic was swallowed")
					}
				}()
				_, _ = a.Run(context.Background(), slot, func(context.Context, *schedule.Run) error { panic("oh") })
			}()
			if e, _ := w.store.Stored(); !e.Vacant() {
				t.Errorf("%q still leads", e.LeaderID)
			}
			want := schedule.Ran
			if policy == schedule.Skip {
				want = schedule.Begun
			}
			w.trigger(a, slot, w.takes(0), want, nil)
		})
	}
}

func TestWorkThatEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		var ending sync.WaitGroup
		ending.Go(func() {
			_, _ = a.Run(context.Background(), at(0), func(context.Context, *schedule.Run) error { runtime.Goexit(); return nil })
		})
		ending.Wait()
		if e, _ := w.store.Stored(); !e.Vacant() {
			t.Errorf("%q still leads", e.LeaderID)
		}
	})
}

// Work that ignores its context keeps the slot for as long as it runs: nobody
// may work beside it, in this process or in another.
func TestWorkThatIgnoresItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.host("a", 0), w.host("b", 0)
		a.Election.Memory = new(core.Memory)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		slot := at(0)
		var stubborn sync.WaitGroup
		stubborn.Go(func() {
			res, err := a.Run(ctx, slot, w.takes(time.Minute))
			if res.Outcome != schedule.Ran || err != nil {
				t.Errorf("the stubborn work: %v, %v", res, err)
			}
		})
		for range 50 {
			time.Sleep(time.Second)
			w.trigger(a, slot, w.takes(0), schedule.Running, nil)
			w.trigger(b, slot, w.takes(0), schedule.Running, nil)
		}
		stubborn.Wait()
		w.trigger(b, slot, w.takes(0), schedule.Done, nil)
		w.wantRuns(1)
	})
}

func TestContextOfTheWorkEndsWithTheCallers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("the platform wants its sandbox back")
		slot := at(0)
		res, err := a.Run(ctx, slot, func(ctx context.Context, r *schedule.Run) error {
			if l, ok := core.FromContext(ctx); !ok || l != r.Leadership() {
				t.Error("the context does not know its leadership")
			}
			cancel(why)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if res.Outcome != schedule.Failed || !errors.Is(err, why) {
			t.Errorf("%v, %v", res, err)
		}
		w.trigger(a, slot, w.takes(0), schedule.Ran, nil) // it has resigned all the same
	})
}

func TestStoreDown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		a.door.set(func(d *door) { d.shut = errNet })
		w.trigger(a, at(0), w.takes(0), schedule.Unknown, errNet)
		a.door.set(func(d *door) { d.shut = core.ErrBroken })
		w.trigger(a, at(0), w.takes(0), schedule.Unknown, core.ErrBroken)
		w.wantRuns(0)
	})
}

func TestDeadlineShorterThanARoundTrip(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		a.door.set(func(d *door) { d.takes = 50 * time.Millisecond })
		for _, deadline := range []time.Duration{10 * time.Millisecond, 60 * time.Millisecond, 99 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			began := time.Now()
			res, err := a.Run(ctx, at(0), w.takes(0))
			cancel()
			if res.Outcome != schedule.Unknown || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("deadline %v: %v, %v", deadline, res, err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("deadline %v: it took %v", deadline, took)
			}
		}
		w.wantRuns(0)
		a.door.set(func(d *door) { d.takes = 0 })
		w.trigger(a, at(0), w.takes(0), schedule.Ran, nil) // nothing was left behind
	})
}

// The context ends while the work is being recorded: it is recorded all the same.
func TestDeadlineWhileFinishing(t *testing.T) {
	for _, deadline := range []time.Duration{110 * time.Millisecond, 149 * time.Millisecond} {
		bubble(t, func(t *testing.T, w *world) {
			a := w.host("a", 0)
			a.door.set(func(d *door) { d.takes = 50 * time.Millisecond })
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			slot := at(0)
			res, err := a.Run(ctx, slot, w.takes(20*time.Millisecond))
			if res.Outcome != schedule.Ran || err != nil {
				t.Errorf("%v, %v", res, err)
			}
			w.trigger(a, slot, w.takes(0), schedule.Done, nil)
		})
	}
}

// The context ends at the instant of the win, before the work has begun: the
// slot is free again, also where the win had marked it.
func TestContextEndsWithTheWin(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		bubble(t, func(t *testing.T, w *world) {
			a := w.host("a", 0)
			a.OnFailure = policy
			w.trigger(a, at(0), w.takes(0), schedule.Ran, nil)
			time.Sleep(time.Minute)
			ctx, cancel := context.WithCancel(context.Background())
			a.door.set(func(d *door) { d.stored = cancel })
			slot := at(0)
			res, err := a.Run(ctx, slot, w.takes(0))
			if res.Outcome != schedule.Unknown || !errors.Is(err, context.Canceled) {
				t.Errorf("%v, %v", res, err)
			}
			w.wantRuns(1)
			a.door.set(func(d *door) { d.stored = nil })
			w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
			w.wantRuns(2)
		})
	}
}

// The answer to the win never comes, and the context ends: the campaign
// gives up what it had won, and the slot with it.
func TestWinThatNobodyHearsOf(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		bubble(t, func(t *testing.T, w *world) {
			a := w.host("a", 0)
			a.OnFailure = policy
			w.trigger(a, at(0), w.takes(0), schedule.Ran, nil)
			time.Sleep(time.Minute)
			a.door.set(func(d *door) { d.hang = 1 })
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			slot := at(0)
			res, err := a.Run(ctx, slot, w.takes(0))
			if res.Outcome != schedule.Unknown || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, %v", res, err)
			}
			w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
			w.wantRuns(2)
		})
	}
}

// The work is done when the store fails: the caller is told that nobody knows.
func TestStoreFailsWhileTheWorkRuns(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.host("a", 0), w.host("b", 0)
		slot := at(0)
		w.trigger(a, slot, func(ctx context.Context, r *schedule.Run) error {
			a.door.set(func(d *door) { d.shut = errNet })
			return w.takes(time.Second)(ctx, r)
		}, schedule.Ran, schedule.ErrNotRecorded)
		time.Sleep(2 * term)
		w.trigger(b, slot, w.takes(0), schedule.Ran, nil) // at least once
	})
}

func TestResignWithinBoundsFinish(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		a.Election.ResignWithin = 2 * time.Second
		began := time.Now()
		w.trigger(a, at(0), func(context.Context, *schedule.Run) error {
			a.door.set(func(d *door) { d.shut = errNet })
			return nil
		}, schedule.Ran, schedule.ErrNotRecorded)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Every write is stored, and every answer is lost.
func TestLostAnswers(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		bubble(t, func(t *testing.T, w *world) {
			a, b := w.host("a", 0), w.host("b", 0)
			a.OnFailure, b.OnFailure = policy, policy
			for range 3 {
				a.door.set(func(d *door) { d.lose = 100 })
				slot := at(0)
				w.trigger(a, slot, w.takes(time.Second), schedule.Ran, nil)
				w.trigger(b, slot, w.takes(time.Second), schedule.Done, nil)
				time.Sleep(time.Minute)
			}
			w.wantRuns(3)
		})
	}
}

func TestLeadershipLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		lost := func(result error) schedule.Work {
			return func(ctx context.Context, r *schedule.Run) error {
				w.store.Lead("operator", time.Second)
				<-ctx.Done()
				return result
			}
		}
		w.trigger(a, at(0), lost(nil), schedule.Ran, schedule.ErrNotRecorded)
		time.Sleep(term)
		res, err := a.Run(context.Background(), at(0), lost(errWork))
		if res.Outcome != schedule.Failed || !errors.Is(err, core.ErrLeadershipLost) || !errors.Is(err, errWork) {
			t.Errorf("%v, %v", res, err)
		}
	})
}

func TestForeignCheckpoints(t *testing.T) {
	for _, foreign := range []string{
		"done up to line 700", `{"cursor": 7}`, `[1]`, `{"schedule":1} trailing`,
		`{"schedule":2,"slot":"2000-01-01T00:00:00Z","state":"done"}`, `{"schedule":1,"state":"done"}`,
		`{"schedule":1,"slot":"2000-01-01T00:00:00Z"}`, `{"schedule":1,"slot":"2000-01-01T00:00:00Z","state":"odd"}`,
		`{"schedule":1,"slot":"yesterday","state":"done"}`,
	} {
		bubble(t, func(t *testing.T, w *world) {
			e := w.store.Lead("", time.Second)
			e.Checkpoint = []byte(foreign)
			w.store.Plant(e)
			a := w.host("a", 0)
			w.trigger(a, at(0), w.takes(0), schedule.Unknown, schedule.ErrCheckpoint)
			w.wantRequests(a, "a foreign checkpoint", 1, 0)
			w.wantRuns(0)
			if now, _ := w.store.Stored(); string(now.Checkpoint) != foreign {
				t.Errorf("the checkpoint was overwritten with %s", now.Checkpoint)
			}
		})
	}
}

func TestState(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.host("a", 0), w.host("b", 0)
		for i, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
			a.OnFailure, b.OnFailure = policy, policy
			slot := at(0)
			var big schedule.Work = func(ctx context.Context, r *schedule.Run) error {
				if err := r.SetState(make([]byte, schedule.MaxState+1)); !errors.Is(err, core.ErrInvalidConfig) {
					t.Errorf("a state that is too large: %v", err)
				}
				if err := r.SetState([]byte(strings.Repeat("x", schedule.MaxState))); err != nil {
					t.Error(err)
				}
				return r.SaveState(ctx, []byte("cursor 1"))
			}
			w.trigger(a, slot, big, schedule.Ran, nil)
			time.Sleep(time.Minute)
			slot = at(0)
			w.trigger(b, slot, func(ctx context.Context, r *schedule.Run) error {
				if got := string(r.State()); got != "cursor 1" {
					t.Errorf("%d: the state is %q", i, got)
				}
				if err := r.SetState([]byte("cursor 2")); err != nil {
					t.Error(err)
				}
				return errWork
			}, schedule.Failed, errWork)
			time.Sleep(time.Minute)
			w.trigger(a, at(0), func(ctx context.Context, r *schedule.Run) error {
				if got := string(r.State()); got != "cursor 2" {
					t.Errorf("%d: the state after a failure is %q", i, got)
				}
				return nil
			}, schedule.Ran, nil)
			time.Sleep(time.Minute)
		}
	})
}

// A state that was saved in a run that is then killed is there for the next.
func TestSavedStateSurvivesTheProcess(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.host("a", 0), w.host("b", 0)
		slot := at(0)
		_, _ = a.Run(context.Background(), slot, func(ctx context.Context, r *schedule.Run) error {
			if err := r.SaveState(ctx, []byte("half")); err != nil {
				t.Error(err)
			}
			return w.dies(a)(ctx, r)
		})
		time.Sleep(term)
		w.trigger(b, slot, func(ctx context.Context, r *schedule.Run) error {
			if got := string(r.State()); got != "half" {
				t.Errorf("the state is %q", got)
			}
			return nil
		}, schedule.Ran, nil)
	})
}
