package lambdaleader

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// Two invocations at once in one process: one works, the other is a follower and
// costs nothing.
func TestTwoAtOnceInOneProcess(t *testing.T) {
	for _, opts := range []Options{{}, {Keep: true}} {
		bubble(t, func(w *world) {
			opts.FailFollowers = true
			a := w.sandbox("a", settings{opts: opts})
			a.handle = func(_ context.Context, l *core.Leadership, _ string) (string, error) {
				w.costs("the second invocation", 0, 0, func() {
					_, err := a.invoke()
					follower, ok := err.(*FollowerError)
					if !ok || follower.Held.Current.LeaderID != "a" || follower.Held.Current.FencingToken != l.FencingToken() ||
						!strings.Contains(err.Error(), "another invocation of this process") {
						t.Errorf("the second invocation: %v", err)
					}
				})
				return "done", nil
			}
			a.works()
			end(w, a)
		})
	}
}

// With Wait the second one takes its turn.
func TestTwoInARow(t *testing.T) {
	for _, keep := range []bool{false, true} {
		bubble(t, func(w *world) {
			a := w.sandbox("a", settings{opts: Options{Wait: 5 * time.Second, Keep: keep}})
			var at atomic.Int64
			a.handle = func(context.Context, *core.Leadership, string) (string, error) {
				if at.Add(1) > 1 {
					t.Error("two handlers at once")
				}
				time.Sleep(time.Second)
				at.Add(-1)
				return "done", nil
			}
			var both sync.WaitGroup
			both.Go(a.works)
			both.Go(a.works)
			both.Wait()
			end(w, a)
		})
	}
}

// Many sandboxes, many invocations: never two handlers at once, tokens that rise,
// and nothing is left.
func TestFleet(t *testing.T) {
	seed := rand.Uint64()
	bubble(t, func(w *world) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var boxes []*sandbox
		var at, worked, token atomic.Int64
		for i := range 4 {
			b := w.sandbox(string(rune('a'+i)), settings{
				faults: "any delay p=0.5 for=3ms; write lose p=0.05; any fail p=0.05",
				opts:   Options{Keep: i%2 == 0, Wait: time.Duration(i%3) * time.Second},
			})
			b.clock.Step(time.Duration(i) * time.Hour)
			b.handle = func(_ context.Context, l *core.Leadership, _ string) (string, error) {
				if at.Add(1) > 1 {
					t.Errorf("seed %d: two handlers at once", seed)
				}
				defer at.Add(-1)
				if now := l.FencingToken(); token.Swap(now) > now {
					t.Errorf("seed %d: token %d after a higher one", seed, now)
				}
				worked.Add(1)
				time.Sleep(50 * time.Millisecond)
				return "done", nil
			}
			boxes = append(boxes, b)
		}
		w.store.SetClock(w.sandbox("store", settings{}).clock)
		var all sync.WaitGroup
		for range 300 {
			b := boxes[rnd.IntN(len(boxes))]
			all.Go(func() { _, _ = b.invoke() })
			time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
		}
		all.Wait()
		if worked.Load() < 20 {
			t.Errorf("seed %d: only %d of 300 invocations worked", seed, worked.Load())
		}
		for _, b := range boxes {
			_ = b.leader.Shutdown(context.Background())
			b.quiet(0)
		}
	})
}
