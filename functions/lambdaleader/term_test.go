package lambdaleader

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// deadlineGuard notes for every write that grants a term when that is over.
type deadlineGuard struct {
	core.RaceDecider
	mu     sync.Mutex
	latest time.Time
	writes int
}

func (g *deadlineGuard) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if !e.Vacant() {
		g.mu.Lock()
		if end := time.Now().Add(e.TermLength); end.After(g.latest) {
			g.latest = end
		}
		g.writes++
		g.mu.Unlock()
	}
	return g.RaceDecider.WriteEntry(ctx, e)
}

// The term, renewals included, never ends later than Margin after the deadline,
// and lasts until the handler has to be done, however slow the store is.
func TestTermAndDeadline(t *testing.T) {
	for _, timeout := range []time.Duration{1100 * time.Millisecond, 3 * time.Second, 10 * time.Second, 25 * time.Second, 15 * time.Minute} {
		for _, latency := range []time.Duration{0, 20 * time.Millisecond, 150 * time.Millisecond} {
			for _, margin := range []time.Duration{0, 100 * time.Millisecond, 500 * time.Millisecond} {
				if timeout < 2*time.Second && latency > 100*time.Millisecond {
					continue // ErrNoTime: two requests and the margins do not fit
				}
				bubble(t, func(w *world) {
					about := fmt.Sprintf("timeout %v, latency %v, margin %v", timeout, latency, margin)
					a := w.sandbox("a", settings{faults: fmt.Sprintf("any delay for=%v", latency+1), opts: Options{Margin: margin}})
					guard := &deadlineGuard{RaceDecider: a.leader.config.Decider}
					a.leader.config.Decider = guard
					began := time.Now()
					a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
						<-ctx.Done()
						return "done", l.Check()
					}
					if out, err := a.invokeFor(timeout); out != "done" || err != nil {
						t.Errorf("%s: %q, %v", about, out, err)
					}
					if late := guard.latest.Sub(began.Add(timeout)); late > a.leader.opts.Margin {
						t.Errorf("%s: the term ends %v after the deadline", about, late)
					}
					if most := 3 + int(timeout/(5*time.Second)); guard.writes > most {
						t.Errorf("%s: %d writes, want at most %d", about, guard.writes, most)
					}
					a.quiet(0)
				})
			}
		}
	}
}

// The last renewal fails for a while: there is time to repeat it.
func TestLastRenewalIsRepeated(t *testing.T) {
	bubble(t, func(w *world) {
		a := w.sandbox("a", settings{faults: "write fail after=1 times=2; read fail after=1 times=2"})
		guard := &deadlineGuard{RaceDecider: a.leader.config.Decider}
		a.leader.config.Decider = guard
		began := time.Now()
		a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
			<-ctx.Done()
			return "done", l.Check()
		}
		a.works()
		if late := guard.latest.Sub(began.Add(timeout)); late > 500*time.Millisecond {
			t.Errorf("the term ends %v after the deadline", late)
		}
		if guard.writes != 4 {
			t.Errorf("%d writes, want the win and three renewals", guard.writes)
		}
	})
}

// A last renewal that cannot be made in time is not made later: neither when the
// store answers again, nor when an older one turns out to be stored.
func TestNoRenewalTooLate(t *testing.T) {
	for _, faults := range []string{
		"write fail after=1 times=4; read fail after=1 times=4",
		"write late after=1 times=1 for=200ms; write delay after=2 times=1 for=700ms",
	} {
		bubble(t, func(w *world) {
			a := w.sandbox("a", settings{faults: faults})
			guard := &deadlineGuard{RaceDecider: a.leader.config.Decider}
			a.leader.config.Decider = guard
			began := time.Now()
			a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}
			if _, err := a.invoke(); err == nil {
				t.Errorf("%s: the leadership lasted", faults)
			}
			if late := guard.latest.Sub(began.Add(timeout)); late > 500*time.Millisecond {
				t.Errorf("%s: the term ends %v after the deadline", faults, late)
			}
			a.quiet(0)
		})
	}
}

// openRequests counts the requests that are under way.
type openRequests struct {
	core.RaceDecider
	n atomic.Int64
}

func (o *openRequests) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	o.n.Add(1)
	defer o.n.Add(-1)
	return o.RaceDecider.WriteEntry(ctx, e)
}

// The handler returns while its leadership is being renewed: no request is open
// when the invocation is over.
func TestHandlerReturnsDuringARenewal(t *testing.T) {
	for _, keep := range []bool{false, true} {
		bubble(t, func(w *world) {
			a := w.sandbox("a", settings{faults: "write delay-after for=150ms", opts: Options{Keep: keep},
				config: core.Config{TermLength: 3 * time.Second}})
			store := &openRequests{RaceDecider: a.leader.config.Decider}
			a.leader.config.Decider = store
			a.handle = func(_ context.Context, l *core.Leadership, _ string) (string, error) {
				time.Sleep(900 * time.Millisecond) // the first renewal was sent 50 ms ago
				if n := store.n.Load(); n != 1 {
					t.Errorf("%d requests under way, want the renewal", n)
				}
				return "done", nil
			}
			a.works()
			if n := store.n.Load(); n != 0 {
				t.Errorf("%d requests are open after the invocation", n)
			}
			if keep {
				if left := a.leader.kept.TimeLeft(); left < 2800*time.Millisecond {
					t.Errorf("the renewal counts for nothing: %v left", left)
				}
			}
			end(w, a)
		})
	}
}

// A term that is cut short does not make anybody's clock better.
func TestSkewOfACutTerm(t *testing.T) {
	bubble(t, func(w *world) {
		a := w.sandbox("a", settings{})
		for left, want := range map[time.Duration][2]time.Duration{
			time.Minute:             {15 * time.Second, time.Second},
			3 * time.Second:         {2800 * time.Millisecond, time.Second},
			1100 * time.Millisecond: {1280 * time.Millisecond, 640 * time.Millisecond},
		} {
			c, err := a.leader.candidacy(window{left: left, margin: 500 * time.Millisecond}, 0)
			if err != nil || c.TermLength != want[0] || c.MaxClockSkew != want[1] {
				t.Errorf("with %v left: term %v, skew %v, %v; want %v", left, c.TermLength, c.MaxClockSkew, err, want)
			}
			if err := c.Validate(); err != nil {
				t.Errorf("with %v left core refuses the Config: %v", left, err)
			}
		}
	})
}

// Waiting: a follower gets its turn when the leader resigns, with a term that fits
// what is left; or it gives up in time.
func TestWaiting(t *testing.T) {
	for _, wait := range []time.Duration{3 * time.Second, time.Hour} {
		bubble(t, func(w *world) {
			w.store.Lead("somebody", time.Hour)
			b := w.sandbox("b", settings{opts: Options{Wait: wait, FailFollowers: true}})
			began := time.Now()
			_, err := b.invoke()
			if _, ok := err.(*FollowerError); !ok {
				t.Errorf("Wait %v: the error is %v, want a FollowerError", wait, err)
			}
			want := min(wait, timeout-time.Second)
			if took := time.Since(began); took < want-100*time.Millisecond || took > want+100*time.Millisecond {
				t.Errorf("Wait %v: waited for %v, want %v", wait, took, want)
			}
			b.quiet(0)
		})
		bubble(t, func(w *world) {
			w.store.Lead("somebody", time.Hour)
			b := w.sandbox("b", settings{opts: Options{Wait: wait}})
			guard := &deadlineGuard{RaceDecider: b.leader.config.Decider}
			b.leader.config.Decider = guard
			began := time.Now()
			time.AfterFunc(2*time.Second, func() { w.store.Lead("", 0) })
			b.works()
			if late := guard.latest.Sub(began.Add(timeout)); late > 500*time.Millisecond {
				t.Errorf("Wait %v: the term ends %v after the deadline", wait, late)
			}
			b.quiet(0)
		})
	}
}

// Without a deadline, as in a test of one's own, the term is the longest one.
func TestNoDeadline(t *testing.T) {
	bubble(t, func(w *world) {
		for _, opts := range []Options{{}, {Keep: true}, {Wait: time.Second}} {
			a := w.sandbox("a", settings{opts: opts})
			out, err := Wrap(a.leader, func(_ context.Context, l *core.Leadership, in string) (time.Duration, error) {
				time.Sleep(time.Minute)
				return l.Entry().TermLength, l.Check()
			})(context.Background(), "event")
			if out != 15*time.Second || err != nil {
				t.Errorf("%+v: term %v, %v", opts, out, err)
			}
			end(w, a)
		}
	})
}
