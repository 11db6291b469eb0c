package skewclock_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/skewclock"
)

// Whatever is done to a clock while others wait on it, every wait ends once the
// clock runs again, and none is early. The race detector watches.
func TestMeddlingWhileOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := skewclock.New(clocks.DefaultClock(), nil)
		var waiting, meddling sync.WaitGroup
		for i := range 20 {
			d := time.Duration(i+1) * 100 * time.Millisecond
			waiting.Go(func() {
				before, _ := c.Readings()
				ctx, cancel := c.ContextWithTimeout(t.Context(), 2*d)
				defer cancel()
				if !c.SleepFor(ctx, d) {
					t.Errorf("a sleep of %v did not last as long as that", d)
				}
				<-ctx.Done()
				if ctx.Err() != context.DeadlineExceeded {
					t.Errorf("%v", ctx.Err())
				}
				if after, _ := c.Readings(); after-before < 2*d {
					t.Errorf("a wait of %v ended after %v", 2*d, after-before)
				}
			})
		}
		for _, meddle := range []func(){
			func() { c.FreezeMono(); time.Sleep(7 * time.Millisecond); c.ThawMono(false) },
			func() { c.FreezeWall(); time.Sleep(5 * time.Millisecond); c.ThawWall(true) },
			func() { c.SetRate(1.02); c.Step(time.Second); c.SetRate(0.98); c.Step(-time.Second) },
			func() { c.AfterFunc(time.Millisecond, func() {}).Stop(); c.Now() },
		} {
			meddling.Go(func() {
				for range 50 {
					meddle()
					time.Sleep(11 * time.Millisecond)
				}
			})
		}
		meddling.Wait()
		waiting.Wait()
	})
}
