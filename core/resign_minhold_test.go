package core_test

import (
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// The monotonic clock stood still over the win and catches up after it: the
// catch-up is not time that the election was held.
func TestMinHoldIsNotHastenedByCatchingUp(t *testing.T) {
	const hold = time.Minute
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", nil)
		a.MinHold, a.Memory, a.Reclaim, a.ManualRenew = hold, new(core.Memory), true, true
		if _, err := a.TryAcquire(t.Context()); err != nil { // the Memory has looked at the clocks before
			t.Fatal(err)
		}
		time.Sleep(2 * hold)
		a.clock.FreezeMono()
		time.Sleep(hold / 2)
		l, err := a.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		won := time.Now()
		a.clock.ThawMono(true)
		<-l.Context().Done()
		for time.Since(won) < 2*hold {
			if again, err := a.TryAcquire(t.Context()); err == nil {
				if early := hold - time.Since(won); early > 0 {
					t.Errorf("elected again %v before MinHold was over", early)
				}
				resign(t, again)
				return
			}
			time.Sleep(time.Second)
		}
		t.Error("not elected again within twice MinHold")
	})
}

// A leader whose clock is fast believes that more of MinHold has passed than has.
func TestMinHoldOfAFastClock(t *testing.T) {
	const hold = 1000 * time.Second
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", &skewclock.Options{Rate: 1 + 1.0/41})
		a.MinHold = hold
		l := a.win(t)
		won := time.Now()
		time.Sleep(hold / 2)
		resign(t, l)
		if held, left := w.stored(t), hold-time.Since(won); !held.Held || held.TermLength < left {
			t.Errorf("held (%v) for %v, want at least the %v that are left", held.Held, held.TermLength, left)
		}
	})
}
