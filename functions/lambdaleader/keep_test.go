package lambdaleader

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// keeping are the settings of a sandbox that keeps its leadership, for terms of
// 15 s.
func keeping() settings { return settings{opts: Options{Keep: true}} }

func TestWarmInvocationsCostNothing(t *testing.T) {
	bubble(t, func(w *world) {
		a, b := w.sandbox("a", keeping()), w.sandbox("b", keeping())
		w.costs("the first invocation", 1, 1, a.works)
		a.quiet(1)
		for range 4 {
			time.Sleep(time.Second)
			w.costs("a warm invocation", 0, 0, a.works)
			a.quiet(1)
		}
		w.costs("a follower's invocation", 1, 0, b.skips)
		b.quiet(0)
		time.Sleep(time.Second) // a third of 15 s has passed
		w.costs("a warm invocation after a third of the term", 0, 1, a.works)
		time.Sleep(4900 * time.Millisecond)
		w.costs("a warm invocation before the next third is over", 0, 0, a.works)
		a.quiet(1)
		time.Sleep(9 * time.Second) // the renewal was 13.9 s ago
		b.skips()
		a.works()
		if e, _ := w.store.Stored(); e.FencingToken != 1 {
			t.Errorf("the kept reign has token %d, and began with 1", e.FencingToken)
		}
		end(w, a)
	})
}

// end resigns what is kept, so that the bubble ends.
func end(w *world, boxes ...*sandbox) {
	w.Helper()
	for _, b := range boxes {
		if err := b.leader.Shutdown(context.Background()); err != nil {
			w.Errorf("Shutdown: %v", err)
		}
		b.quiet(0)
	}
}

// Between invocations the sandbox is frozen: one of its clocks stands still, and
// the other shows that the term has passed.
func TestFrozenBetweenInvocations(t *testing.T) {
	freezes := map[string]struct{ freeze, thaw func(*sandbox) }{
		"monotonic clock":              {func(b *sandbox) { b.clock.FreezeMono() }, func(b *sandbox) { b.clock.ThawMono(false) }},
		"monotonic clock, catching up": {func(b *sandbox) { b.clock.FreezeMono() }, func(b *sandbox) { b.clock.ThawMono(true) }},
		"wall clock":                   {func(b *sandbox) { b.clock.FreezeWall() }, func(b *sandbox) { b.clock.ThawWall(false) }},
		"no clock":                     {func(*sandbox) {}, func(*sandbox) {}},
	}
	for name, f := range freezes {
		for _, somebodyElse := range []bool{false, true} {
			bubble(t, func(w *world) {
				w.store.SetClock(w.sandbox("store", settings{}).clock)
				a, b := w.sandbox("a", keeping()), w.sandbox("b", keeping())
				a.works()
				f.freeze(a)
				time.Sleep(20 * time.Second)
				if somebodyElse {
					b.works()
				}
				f.thaw(a)
				if somebodyElse {
					w.costs("an invocation after the thaw: "+name, 1, 0, a.skips)
				} else {
					w.costs("an invocation after the thaw: "+name, 1, 1, a.works)
					if e, _ := w.store.Stored(); e.FencingToken != startToken(w)+1 {
						t.Errorf("%s: token %d: the old reign went on", name, e.FencingToken)
					}
				}
				end(w, a, b)
			})
		}
	}
}

// startToken is the first fencing token where the store tells the time.
func startToken(*world) int64 { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() }

// A freeze in the middle of an invocation: Check says no at once, the context
// soon, and the successor's entry is left alone.
func TestFrozenInAnInvocation(t *testing.T) {
	for _, opts := range []Options{{}, {Keep: true}} {
		bubble(t, func(w *world) {
			w.store.SetClock(w.sandbox("store", settings{}).clock)
			a, b := w.sandbox("a", settings{opts: opts}), w.sandbox("b", settings{})
			a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
				a.clock.FreezeMono()
				time.Sleep(20 * time.Second)
				b.works()
				a.clock.ThawMono(false)
				if err := l.Check(); !errors.Is(err, core.ErrTermExpired) {
					t.Errorf("Check after the thaw = %v", err)
				}
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, core.ErrTermExpired) {
					t.Errorf("the context's cause after the thaw is %v", cause)
				}
				return "done", nil
			}
			if _, err := a.invoke(); !errors.Is(err, core.ErrTermExpired) {
				t.Errorf("the term had passed, and the error is %v", err)
			}
			a.quiet(0)
			if e, _ := w.store.Stored(); e.FencingToken != startToken(w)+1 || !e.Vacant() {
				t.Errorf("stored after both: %+v", e)
			}
		})
	}
}

// A term that does not last as long as the handler is renewed while it runs.
func TestKeptWhileTheHandlerRuns(t *testing.T) {
	bubble(t, func(w *world) {
		s := keeping()
		s.config.TermLength = 3 * time.Second
		a, b := w.sandbox("a", s), w.sandbox("b", s)
		a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
			time.Sleep(8500 * time.Millisecond)
			b.skips()
			return "done", l.Check()
		}
		w.costs("8.5 s of work with terms of 3 s, and a follower", 2, 1+7, a.works) // the last one lasts
		a.quiet(1)
		end(w, a)
	})
}

// One renewal fails: the reign lasts, the handler works, and the next one is tried
// while it does.
func TestKeptRenewalFails(t *testing.T) {
	bubble(t, func(w *world) {
		s := keeping()
		s.faults = "write fail after=1 times=1; read fail after=1 times=1"
		a := w.sandbox("a", s)
		a.works()
		time.Sleep(6 * time.Second)
		a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
			time.Sleep(time.Second)
			if left := l.TimeLeft(); left < 13*time.Second {
				t.Errorf("not renewed again: %v left", left)
			}
			return "done", nil
		}
		a.works()
		end(w, a)
	})
}

// Somebody broke the kept reign between invocations.
func TestKeptIsLost(t *testing.T) {
	bubble(t, func(w *world) {
		a := w.sandbox("a", keeping())
		a.works()
		w.store.Lead("b", time.Minute)
		time.Sleep(6 * time.Second)
		a.skips()
		a.quiet(0)
	})
}

// Keep with a short timeout: the term is short enough for an attempt that hangs to
// be given up in time.
func TestKeepWithAShortTimeout(t *testing.T) {
	bubble(t, func(w *world) {
		a := w.sandbox("a", keeping())
		a.handle = func(_ context.Context, l *core.Leadership, _ string) (string, error) {
			if term := l.Entry().TermLength; term != 5*time.Second {
				t.Errorf("with 3 s left and a margin of 500 ms the term is %v", term)
			}
			return "done", nil
		}
		if out, err := a.invokeFor(3 * time.Second); out != "done" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		end(w, a)
	})
}

func TestShutdown(t *testing.T) {
	bubble(t, func(w *world) {
		a, b := w.sandbox("a", keeping()), w.sandbox("b", settings{})
		a.works()
		b.skips()
		w.costs("SIGTERM", 0, 1, a.leader.terminate)
		a.quiet(0)
		b.works()
		if _, err := a.invoke(); !errors.Is(err, ErrShutdown) {
			t.Errorf("an invocation after Shutdown: %v", err)
		}
		w.costs("a second SIGTERM", 0, 0, a.leader.terminate)
	})
}

// A store that does not answer, or a handler that does not, keeps SIGTERM waiting
// for less than the platform does.
func TestShutdownInTime(t *testing.T) {
	bubble(t, func(w *world) {
		s := keeping()
		s.faults = "write hang after=1"
		a := w.sandbox("a", s)
		a.works()
		began := time.Now()
		a.leader.terminate()
		if took := time.Since(began); took > 400*time.Millisecond {
			t.Errorf("SIGTERM took %v", took)
		}
		a.quiet(0)
	})
	for _, obedient := range []bool{true, false} {
		bubble(t, func(w *world) {
			a, b := w.sandbox("a", keeping()), w.sandbox("b", settings{})
			a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
				if !obedient {
					time.Sleep(3 * time.Second)
					return "done", l.Check()
				}
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, ErrShutdown) {
					t.Errorf("the cause is %v", cause)
				}
				return "done", nil
			}
			over := make(chan struct{})
			go func() {
				defer close(over)
				a.works()
			}()
			time.Sleep(time.Second)
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			err := a.leader.Shutdown(ctx)
			if obedient && err != nil || !obedient && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("obedient %v: Shutdown = %v", obedient, err)
			}
			if obedient {
				b.works()
			} else {
				b.skips() // the work has not stopped
			}
			<-over
			b.works()
			a.quiet(0)
		})
	}
}

// A handler may be back before a slow callback is: a kept leadership leaves no
// goroutine behind all the same, and a callback that hangs is waited for until
// the time is up.
func TestKeepingWaitsForCallbacks(t *testing.T) {
	for name, slow := range map[string]time.Duration{"slow": 2 * time.Second, "hanging": time.Minute} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				s := keeping()
				s.config.OnEvent = func(e core.Event) {
					if e.Kind == core.EventElected {
						time.Sleep(slow)
					}
				}
				a := w.sandbox("a", s)
				began := time.Now()
				a.works()
				took := time.Since(began)
				switch {
				case slow < timeout && took < slow:
					t.Errorf("the invocation was over after %v, its callback takes %v", took, slow)
				case took >= timeout:
					t.Errorf("the invocation took %v, its timeout is %v", took, timeout)
				}
				if slow < timeout {
					a.quiet(1)
				}
				time.Sleep(slow)
				end(w, a)
			})
		})
	}
}
