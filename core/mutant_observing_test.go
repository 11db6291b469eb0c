package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// Somebody else's term is over when both clocks of the observer say so: neither
// one that is set forward nor one that stood still and catches up may hasten it.
// The leader's clocks are right, and it renews all the time.
func TestMutantObservingByBothClocks(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(b *host, wake chan<- struct{})
	}{
		{"the wall clock is set forward", func(b *host, _ chan<- struct{}) {
			b.clock.Step(2 * term)
			time.Sleep(poll)
		}},
		{"the monotonic clock stands still and catches up", func(b *host, wake chan<- struct{}) {
			b.clock.FreezeMono()
			time.Sleep(term * 2)
			wake <- struct{}{} // a version of now is first seen during the standstill
			synctest.Wait()
			time.Sleep(time.Microsecond)
			b.clock.ThawMono(true)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				a, b := w.host("a", nil), w.host("b", nil)
				b.NoClockProof = true
				wake := make(chan struct{})
				b.Wake = wake
				l := a.win(t)
				out := w.campaign(t.Context(), b)
				time.Sleep(term + term/6) // between two renewals: b has seen the version that stands
				c.play(b, wake)
				synctest.Wait()
				for range 20 {
					time.Sleep(time.Millisecond)
					synctest.Wait()
					select {
					case r := <-out:
						t.Fatalf("two leaders: b was elected by %v beside a (Check: %v)", r.Proof(), l.Check())
					default:
					}
				}
				wantLeading(t, l)
				resign(t, l)
				r := <-out
				if r.err != nil || r.Proof() != core.ProofVacant {
					t.Fatalf("after the resignation: %v, %v", r.Proof(), r.err)
				}
				resign(t, r.Leadership)
			})
		})
	}
}
