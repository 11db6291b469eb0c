package schedule_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// Two hosts whose clocks are an hour or a day apart mean the same slot.
func TestEveryByTheStoresClock(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		slot := schedule.Every(10*time.Minute, nil)
		hosts := []*host{w.host("a", time.Hour), w.host("b", -time.Hour), w.host("c", 24*time.Hour)}
		time.Sleep(time.Minute) // not on a boundary
		for range 7 {           // slots
			for i, want := range []schedule.Outcome{schedule.Ran, schedule.Done, schedule.Done} {
				w.trigger(hosts[i], slot, w.takes(0), want, nil)
				time.Sleep(time.Minute)
			}
			time.Sleep(7 * time.Minute)
			hosts = append(hosts[1:], hosts[0])
		}
		w.wantRuns(7)
	})
}

// A timer that is a little fast means the slot that is about to begin.
func TestEveryForgivesATimerThatIsEarly(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		slot := schedule.Every(time.Minute, nil)
		time.Sleep(59 * time.Second)
		for _, early := range []time.Duration{0, time.Second, -time.Second, 0} {
			w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
			time.Sleep(time.Minute + early)
		}
		w.wantRuns(4)
	})
}

func TestEveryOffset(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		slot := schedule.Every(24*time.Hour, &schedule.EveryOptions{Offset: 3 * time.Hour})
		time.Sleep(26 * time.Hour) // to 02:00
		res := w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
		if want := time.Date(2000, 1, 1, 3, 0, 0, 0, time.UTC); !res.Slot.Time().Equal(want) {
			t.Errorf("at 02:00 it is the slot %v, want %v", res.Slot, want)
		}
		time.Sleep(time.Hour)
		w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
	})
}

func TestEveryWithoutAStoreThatTellsItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store = memory.NewDecider()
		a := w.host("a", 0)
		w.trigger(a, schedule.Every(time.Minute, nil), w.takes(0), schedule.Unknown, schedule.ErrNoDate)
		w.wantRuns(0)

		// By the hosts' clocks: one that is an hour fast makes others skip, and
		// nobody run twice.
		slot := schedule.Every(10*time.Minute, &schedule.EveryOptions{HostClock: true})
		fast := w.host("fast", time.Hour)
		w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
		w.trigger(fast, slot, w.takes(0), schedule.Ran, nil)
		w.trigger(a, slot, w.takes(0), schedule.Stale, nil)
		time.Sleep(50 * time.Minute)
		w.trigger(a, slot, w.takes(0), schedule.Stale, nil)
		time.Sleep(21 * time.Minute)
		w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
	})
}

// A slot of tomorrow would keep today's from running.
func TestFutureSlots(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", time.Hour)
		w.trigger(a, at(24*time.Hour), w.takes(0), schedule.Unknown, schedule.ErrFutureSlot)
		w.wantRequests(a, "a future slot", 1, 0)
		w.trigger(a, at(30*time.Second), w.takes(0), schedule.Ran, nil)
		a.MaxAhead = 48 * time.Hour
		w.trigger(a, at(24*time.Hour), w.takes(0), schedule.Ran, nil)
		w.wantRuns(2)
	})
}

func TestCloudScheduler(t *testing.T) {
	for text, want := range map[string]string{
		"2026-10-16T12:00:00Z": "2026-10-16T12:00:00Z", "2026-10-16T05:00:00-07:00": "2026-10-16T12:00:00Z",
		"": "", "noon": "", "0001-01-01T00:00:00Z": "",
	} {
		h := http.Header{}
		if text != "" {
			h.Set("x-cloudscheduler-scheduletime", text)
		}
		got, err := schedule.CloudScheduler(h)
		checkSlot(t, text, got, err, want)
	}
}

func TestEventBridge(t *testing.T) {
	for event, want := range map[string]string{
		`{"version":"0","id":"53dc4d37","detail-type":"Scheduled Event","source":"aws.events","time":"2015-10-08T16:53:06Z","detail":{}}`: "2015-10-08T16:53:06Z",
		`{"time":"2022-03-22T18:59:43Z"}`:           "2022-03-22T18:59:43Z",
		`{"time":"<aws.scheduler.scheduled-time>"}`: "", // not replaced: not Scheduler's input
		`{}`: "", `{"time":7}`: "", `"2022-03-22T18:59:43Z"`: "", ``: "",
	} {
		got, err := schedule.EventBridge([]byte(event))
		checkSlot(t, event, got, err, want)
	}
}

func checkSlot(t *testing.T, in string, got schedule.Slot, err error, want string) {
	t.Helper()
	if want == "" {
		if !errors.Is(err, schedule.ErrNoSlot) || !got.IsZero() {
			t.Errorf("%q: %v, %v; want ErrNoSlot", in, got, err)
		}
		return
	}
	if err != nil || got.String() != want {
		t.Errorf("%q: %v, %v; want %v", in, got, err, want)
	}
}

// Whoever triggers, in whatever order and at whatever times: no slot is
// finished twice.
func TestManyTriggers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		finished := map[schedule.Slot]int{}
		var mu sync.Mutex
		var triggers sync.WaitGroup
		for i := range 12 {
			h := w.host(string(rune('a'+i)), time.Duration(i-6)*20*time.Minute)
			h.OnFailure = schedule.Policy(i % 2)
			h.door.takes = time.Duration(i) * 7 * time.Millisecond
			if i%5 == 0 {
				h.Election.Memory = new(core.Memory)
			}
			triggers.Go(func() {
				for n := range 40 {
					time.Sleep(time.Duration(1+(i*7+n*13)%29) * time.Second)
					slot := schedule.At(time.Now().Truncate(time.Minute).Add(-time.Duration(n%3) * time.Minute))
					res, err := h.Run(context.Background(), slot, func(ctx context.Context, r *schedule.Run) error {
						time.Sleep(time.Duration((i+n)%20) * time.Second)
						if (i+n)%7 == 0 {
							return errWork
						}
						return nil
					})
					if res.Outcome == schedule.Unknown || err != nil && !errors.Is(err, errWork) {
						t.Errorf("%v, %v", res, err)
					}
					if res.Outcome == schedule.Ran {
						mu.Lock()
						finished[slot]++
						mu.Unlock()
					}
				}
			})
		}
		triggers.Wait()
		for slot, n := range finished {
			if n != 1 {
				t.Errorf("slot %v was finished %d times", slot, n)
			}
		}
		if len(finished) < 8 {
			t.Errorf("only %d slots were finished", len(finished))
		}
	})
}
