package schedule_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// A short job, and a duplicate that comes when it is long done: a lock would
// let it pass (go-co-op/gocron#841).
func TestLateDuplicatesFindTheSlotDone(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		for _, later := range []time.Duration{time.Millisecond, time.Minute, 24 * time.Hour} {
			bubble(t, func(t *testing.T, w *world) {
				a, b := w.host("a", 0), w.host("b", -time.Hour)
				a.OnFailure, b.OnFailure = policy, policy
				slot := at(0)
				w.trigger(a, slot, w.takes(time.Millisecond), schedule.Ran, nil)
				time.Sleep(later)
				w.trigger(b, slot, w.takes(0), schedule.Done, nil)
				w.wantRequests(b, "a late duplicate", 1, 0)
				w.wantRuns(1)
			})
		}
	}
}

func TestDuplicatesWhileTheWorkRunsAreFollowers(t *testing.T) {
	for _, later := range []time.Duration{time.Millisecond, time.Minute} {
		bubble(t, func(t *testing.T, w *world) {
			a, b := w.host("a", 0), w.host("b", time.Hour)
			slot := at(0)
			var first sync.WaitGroup
			first.Go(func() { w.trigger(a, slot, w.takes(2*time.Minute), schedule.Ran, nil) })
			time.Sleep(later)
			res := w.trigger(b, slot, w.takes(0), schedule.Running, nil)
			if res.Leader != "a" || res.RetryAfter <= 0 || res.RetryAfter > 2*term {
				t.Errorf("the result is %+v", res)
			}
			w.wantRequests(b, "a duplicate meanwhile", 1, 0)
			first.Wait()
			w.trigger(b, slot, w.takes(0), schedule.Done, nil)
			w.wantRuns(1)
		})
	}
}

// Two triggers at the same instant, in two processes or in one.
func TestDuplicatesAtTheSameInstant(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
			bubble(t, func(t *testing.T, w *world) {
				a, b := w.host("a", 0), w.host("b", 0)
				if shared {
					a.Election.Memory = new(core.Memory)
					b = a
				}
				a.OnFailure, b.OnFailure = policy, policy
				slot := at(0)
				var triggers sync.WaitGroup
				for _, h := range []*host{a, b, a, b} {
					triggers.Go(func() {
						res, err := h.Run(context.Background(), slot, w.takes(time.Second))
						if err != nil || res.Outcome == schedule.Unknown {
							t.Errorf("%v, %v", res, err)
						}
					})
				}
				triggers.Wait()
				w.wantRuns(1)
			})
		}
	}
}

func TestSlotsFollowEachOther(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.host("a", 0), w.host("b", 0)
		for i := range 6 {
			h := []*host{a, b}[i%2]
			slot := at(0)
			w.trigger(h, slot, w.takes(time.Millisecond), schedule.Ran, nil)
			time.Sleep(5 * time.Minute)
		}
		w.wantRuns(6)
	})
}

func TestSlotsOutOfOrderAreStale(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		older, newer := at(-time.Minute), at(0)
		w.trigger(a, newer, w.takes(0), schedule.Ran, nil)
		res := w.trigger(a, older, w.takes(0), schedule.Stale, nil)
		if res.Last != newer {
			t.Errorf("Last is %v, want %v", res.Last, newer)
		}
		w.wantRuns(1)
	})
}

func TestLastTellsWhatWasMissed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		first := at(0)
		w.trigger(a, first, w.takes(0), schedule.Ran, nil)
		time.Sleep(3 * time.Hour) // two slots are missed
		w.trigger(a, at(0), func(_ context.Context, r *schedule.Run) error {
			if last, done := r.Last(); last != first || !done {
				t.Errorf("Last is %v, %v; want %v", last, done, first)
			}
			return nil
		}, schedule.Ran, nil)
	})
}

// One read and one write before the work, one write after it.
func TestRequests(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		bubble(t, func(t *testing.T, w *world) {
			a := w.host("a", 0)
			a.OnFailure = policy
			w.trigger(a, at(0), w.takes(0), schedule.Ran, nil) // Skip has one more the first time
			a.door.requests()
			time.Sleep(time.Minute)
			w.trigger(a, at(0), func(context.Context, *schedule.Run) error {
				w.wantRequests(a, "the way to the work", 1, 1)
				return nil
			}, schedule.Ran, nil)
			w.wantRequests(a, "the way from the work", 0, 1)
			time.Sleep(time.Minute)
			_ = w.trigger(a, at(0), w.fails, schedule.Failed, errWork)
			w.wantRequests(a, "a slot that fails", 1, 2)
		})
	}
}

func TestNames(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.host("a", 0), w.host("b", 0)
		w.trigger(a, schedule.Named("execution-1"), w.takes(0), schedule.Ran, nil)
		w.trigger(b, schedule.Named("execution-1"), w.takes(0), schedule.Done, nil)
		w.trigger(b, schedule.Named("execution-2"), w.takes(0), schedule.Ran, nil)
		w.trigger(b, at(0), w.takes(0), schedule.Ran, nil) // a time after a name
		w.wantRuns(3)
	})
}

// With WaitAtMost a duplicate waits, and ends as soon as the slot is done.
func TestWaitingDuplicate(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		bubble(t, func(t *testing.T, w *world) {
			a, b := w.host("a", 0), w.host("b", 0)
			a.OnFailure, b.OnFailure = policy, policy
			b.Election.WaitAtMost = 10 * time.Minute
			slot := at(0)
			var first sync.WaitGroup
			first.Go(func() { w.trigger(a, slot, w.takes(time.Minute), schedule.Ran, nil) })
			synctest.Wait()
			began := time.Now()
			w.trigger(b, slot, w.takes(0), schedule.Done, nil)
			if waited := time.Since(began); waited < time.Minute || waited > time.Minute+5*time.Second {
				t.Errorf("it waited for %v", waited)
			}
			first.Wait()
			w.wantRuns(1)
		})
	}
}

// One that waits when the first fails does the work, or with Skip hears of it.
func TestWaitingDuplicateOfAFailure(t *testing.T) {
	for policy, want := range map[schedule.Policy]schedule.Outcome{schedule.Retry: schedule.Ran, schedule.Skip: schedule.Begun} {
		for _, killed := range []bool{false, true} {
			bubble(t, func(t *testing.T, w *world) {
				a, b := w.host("a", 0), w.host("b", 0)
				a.OnFailure, b.OnFailure = policy, policy
				b.Election.WaitAtMost = 10 * time.Minute
				slot := at(0)
				var first sync.WaitGroup
				first.Go(func() {
					if killed {
						w.trigger(a, slot, w.dies(a), schedule.Failed, core.ErrTermExpired)
					} else {
						w.trigger(a, slot, w.fails, schedule.Failed, errWork)
					}
				})
				synctest.Wait()
				w.trigger(b, slot, w.takes(0), want, nil)
				first.Wait()
				w.wantRuns(map[schedule.Outcome]int{schedule.Ran: 2, schedule.Begun: 1}[want])
				w.trigger(b, at(0), w.takes(0), schedule.Ran, nil)
			})
		}
	}
}

// b has read that the slot is free; before its write arrives, a has run it. What b
// hears then is a's vacant entry, and it does not have to read to win on top of that.
func TestWinOnTopOfADoneSlot(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		for _, wait := range []time.Duration{0, time.Minute} {
			bubble(t, func(t *testing.T, w *world) {
				a, b := w.host("a", 0), w.host("b", 0)
				a.OnFailure, b.OnFailure = policy, policy
				b.Election.WaitAtMost = wait
				b.door.takes = time.Second
				slot := at(0)
				var late sync.WaitGroup
				late.Go(func() { w.trigger(b, slot, w.takes(0), schedule.Done, nil) })
				time.Sleep(1500 * time.Millisecond)
				w.trigger(a, slot, w.takes(time.Millisecond), schedule.Ran, nil)
				late.Wait()
				w.wantRuns(1)
				if e, _ := w.store.Stored(); !e.Vacant() {
					t.Errorf("%q still leads", e.LeaderID)
				}
			})
		}
	}
}

func TestLostRace(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.host("a", 0), w.host("b", 0)
		b.door.takes = time.Second
		slot := at(0)
		var late sync.WaitGroup
		late.Go(func() {
			if res := w.trigger(b, slot, w.takes(0), schedule.Running, nil); res.RetryAfter < term || res.Leader != "a" {
				t.Errorf("%+v", res)
			}
		})
		time.Sleep(1500 * time.Millisecond)
		w.trigger(a, slot, w.takes(time.Minute), schedule.Ran, nil)
		late.Wait()
	})
}

func TestErrorsBeforeAnythingIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		bad := w.host("b", 0)
		bad.Election.Reclaim, bad.Election.MinHold, bad.OnFailure, bad.MaxAhead = true, time.Minute, 7, -1
		for _, c := range []struct {
			h    *host
			slot schedule.Slot
			work schedule.Work
		}{
			{bad, at(0), w.takes(0)},
			{a, schedule.Slot{}, w.takes(0)},
			{a, schedule.At(time.Time{}), w.takes(0)},
			{a, schedule.Every(-time.Second, nil), w.takes(0)},
			{a, schedule.Every(0, nil), w.takes(0)},
			{a, schedule.Named(string(make([]byte, 300))), w.takes(0)},
			{a, at(0), nil},
			{&host{}, at(0), w.takes(0)},
		} {
			res, err := c.h.Run(context.Background(), c.slot, c.work)
			if !errors.Is(err, core.ErrInvalidConfig) || res.Outcome != schedule.Unknown {
				t.Errorf("slot %v: %v, %v", c.slot, res, err)
			}
		}
		w.wantRequests(a, "nothing", 0, 0)
		w.wantRuns(0)
	})
}
