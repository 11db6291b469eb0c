package schedule_test

import (
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// Where the store tells no time, the host's clock keeps a slot of the year 9999 from
// making all the others stale.
func TestFutureSlotsWithoutAStoreThatTellsItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store = memory.NewDecider()
		a := w.host("a", 0)
		far := schedule.At(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))
		for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
			a.OnFailure = policy
			w.trigger(a, far, w.takes(0), schedule.Unknown, schedule.ErrFutureSlot)
		}
		w.trigger(a, at(30*time.Second), w.takes(0), schedule.Ran, nil)
		w.trigger(a, schedule.Named("any"), w.takes(0), schedule.Ran, nil)

		// The price: a host whose clock is slow by more than MaxAhead refuses.
		slow := w.host("slow", -time.Hour)
		w.trigger(slow, at(time.Minute), w.takes(0), schedule.Unknown, schedule.ErrFutureSlot)
		slow.MaxAhead = 2 * time.Hour
		w.trigger(slow, at(time.Minute), w.takes(0), schedule.Ran, nil)

		// Every by the host's clock is never ahead of it by more than Early.
		early := schedule.Every(time.Hour, &schedule.EveryOptions{HostClock: true, Early: 10 * time.Minute})
		time.Sleep(55 * time.Minute)
		w.trigger(a, early, w.takes(0), schedule.Ran, nil)
		w.wantRuns(4)
	})
}
