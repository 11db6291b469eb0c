package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// golang/go#24595, google/gvisor#218, the other way round: a clock of a candidate
// that jumps ahead, or that stood still and catches up, is not time that the
// leader's entry has stood. Only what both of its clocks show is observed.
func TestPitfall_ClocksThatJumpAreNotObservation(t *testing.T) {
	for name, jump := range map[string]func(h *host){
		"the wall clock is set": func(h *host) { h.clock.Step(time.Hour) },
		"the monotonic clock catches up": func(h *host) {
			h.clock.FreezeMono()
			for range 10 { // it is looked at meanwhile
				time.Sleep(term / 2)
				_, _ = h.TryAcquire(context.Background())
			}
			h.clock.ThawMono(true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				leader := w.host("leader", nil).win(t)
				h := w.host("a", nil)
				h.Memory, h.NoClockProof = new(core.Memory), true
				for range 10 {
					l, err := h.TryAcquire(t.Context())
					wantHeld(t, l, err)
					jump(h)
					l, err = h.TryAcquire(t.Context())
					wantHeld(t, l, err)
					wantLeading(t, leader)
					time.Sleep(time.Second)
				}
				resign(t, leader)
				l, err := h.TryAcquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				resign(t, l)
			})
		})
	}
}
