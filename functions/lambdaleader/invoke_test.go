package lambdaleader

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

func TestOneWorksTheOthersSkip(t *testing.T) {
	bubble(t, func(w *world) {
		a, b := w.sandbox("a", settings{}), w.sandbox("b", settings{})
		a.handle = func(context.Context, *core.Leadership, string) (string, error) {
			if r, wr := w.store.Requests(); r != 1 || wr != 1 {
				t.Errorf("%d reads and %d writes before the handler ran, want one of each", r, wr)
			}
			w.costs("a follower's invocation", 1, 0, b.skips)
			return "done", nil
		}
		w.costs("an invocation that works, and a follower's", 2, 2, a.works)
		a.quiet(0)
		b.quiet(0)
		b.works() // a has resigned
		b.quiet(0)
	})
}

func TestFollowersFail(t *testing.T) {
	bubble(t, func(w *world) {
		w.store.Lead("somebody", time.Minute)
		b := w.sandbox("b", settings{opts: Options{FailFollowers: true}})
		out, err := b.invoke()
		var follower *FollowerError
		var held *core.HeldError
		if out != "" || !errors.As(err, &follower) || !errors.Is(err, core.ErrHeld) || !errors.As(err, &held) {
			t.Fatalf("a follower's invocation = %q, %v; want a FollowerError that Is ErrHeld", out, err)
		}
		if held.Current.LeaderID != "somebody" || held.RetryAfter <= 0 {
			t.Errorf("the error does not tell who leads and when to come back: %+v", held)
		}
		b.quiet(0)
	})
}

func TestFollowersAnswerAsChosen(t *testing.T) {
	bubble(t, func(w *world) {
		w.store.Lead("somebody", time.Minute)
		b := w.sandbox("b", settings{opts: Options{FailFollowers: true}})
		b.follow = func(_ context.Context, in string, held *core.HeldError) (string, error) {
			return in + ": " + held.Current.LeaderID + " does it", nil
		}
		if out, err := b.invoke(); out != "event: somebody does it" || err != nil {
			t.Errorf("a follower answered %q, %v", out, err)
		}
		b.quiet(0)
	})
}

// A store that fails is an error: nobody may have done the work.
func TestStoreDown(t *testing.T) {
	for name, faults := range map[string]string{
		"unavailable":    "any fail",
		"broken":         "any broken",
		"hangs":          "any hang",
		"answers lost":   "write lose; read fail after=1",
		"writes refused": "write fail",
		"writes hang":    "write hang",
	} {
		for _, opts := range []Options{{}, {FailFollowers: true}, {Wait: 3 * time.Second}, {Keep: true}, {Keep: true, Wait: time.Hour}} {
			bubble(t, func(w *world) {
				b := w.sandbox("b", settings{faults: faults, opts: opts})
				b.handle = func(context.Context, *core.Leadership, string) (string, error) {
					t.Errorf("%s, %+v: the handler ran", name, opts)
					return "", nil
				}
				began := time.Now()
				_, err := b.invoke()
				if _, follower := err.(*FollowerError); err == nil || follower || name == "broken" && !errors.Is(err, core.ErrBroken) {
					t.Errorf("%s, %+v: the error is %v, want the store's", name, opts, err)
				}
				if took := time.Since(began); took > timeout {
					t.Errorf("%s, %+v: the invocation took %v, longer than its deadline", name, opts, took)
				}
				b.quiet(0)
			})
		}
	}
}

// A store whose answer comes after the deadline is as good as one that is down.
func TestDeadlineShorterThanARoundTrip(t *testing.T) {
	for _, faults := range []string{"any delay for=30s", "any delay-after for=30s", "read delay-after for=900ms; write delay-after for=30s"} {
		for _, opts := range []Options{{}, {Keep: true}, {Wait: time.Minute}} {
			bubble(t, func(w *world) {
				b := w.sandbox("b", settings{faults: faults, opts: opts})
				b.handle = func(context.Context, *core.Leadership, string) (string, error) {
					t.Errorf("%s, %+v: the handler ran", faults, opts)
					return "", nil
				}
				began := time.Now()
				_, err := b.invokeFor(4 * time.Second)
				if err == nil || errors.Is(err, core.ErrHeld) && !strings.Contains(err.Error(), "answer") {
					t.Errorf("%s, %+v: the error is %v", faults, opts, err)
				}
				if took := time.Since(began); took > 4*time.Second {
					t.Errorf("%s, %+v: the invocation took %v, longer than its deadline", faults, opts, took)
				}
				b.quiet(0)
			})
		}
	}
}

func TestNoTimeToBegin(t *testing.T) {
	bubble(t, func(w *world) {
		b := w.sandbox("b", settings{})
		strict := w.sandbox("strict", settings{config: core.Config{MaxClockSkew: 2 * time.Second}})
		w.costs("invocations without time", 0, 0, func() {
			for _, left := range []time.Duration{-time.Second, 0, time.Millisecond, 900 * time.Millisecond} {
				_, err := b.invokeFor(left)
				if left <= 0 && err == nil || left > 0 && !errors.Is(err, ErrNoTime) {
					t.Errorf("with %v left the error is %v, want ErrNoTime", left, err)
				}
			}
			if _, err := strict.invokeFor(4 * time.Second); !errors.Is(err, ErrNoTime) || !strings.Contains(err.Error(), "MaxClockSkew") {
				t.Errorf("a term shorter than twice MaxClockSkew: %v", err)
			}
		})
		b.works() // nothing is left of it
		b.quiet(0)
	})
}

func TestHandlerFails(t *testing.T) {
	bubble(t, func(w *world) {
		a, b := w.sandbox("a", settings{}), w.sandbox("b", settings{})
		a.handle = func(context.Context, *core.Leadership, string) (string, error) { return "half", errHandler }
		if out, err := a.invoke(); out != "half" || err != errHandler {
			t.Errorf("the handler's answer became %q, %v", out, err)
		}
		a.quiet(0)
		b.works()
	})
}

// A panic is the runtime's to report, with its own value and stack: it is
// passed on, after the resignation.
func TestHandlerPanics(t *testing.T) {
	for _, opts := range []Options{{}, {Keep: true}} {
		bubble(t, func(w *world) {
			a, b := w.sandbox("a", settings{opts: opts}), w.sandbox("b", settings{})
			a.handle = func(context.Context, *core.Leadership, string) (string, error) { panic("broken") }
			func() {
				defer func() {
					if p := recover(); p != "broken" {
						t.Errorf("the panic became %v", p)
					}
				}()
				_, _ = a.invoke()
			}()
			a.quiet(0)
			b.works()
		})
	}
}

// The deadline of the handler's context leaves time to resign.
func TestHandlerIsTold(t *testing.T) {
	bubble(t, func(w *world) {
		a, b := w.sandbox("a", settings{}), w.sandbox("b", settings{})
		began := time.Now()
		a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
			<-ctx.Done()
			if took := time.Since(began); took != timeout-500*time.Millisecond {
				t.Errorf("the handler's context ended after %v", took)
			}
			if cause := context.Cause(ctx); !errors.Is(cause, ErrNoTime) {
				t.Errorf("the cause is %v", cause)
			}
			if err := l.Check(); err != nil {
				t.Errorf("the leadership does not last as long as the handler: %v", err)
			}
			return "late", ctx.Err()
		}
		if out, err := a.invoke(); out != "late" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the handler's answer became %q, %v", out, err)
		}
		a.quiet(0)
		b.works()
	})
}

// Nobody can stop a handler that ignores its context. It is waited for, and the
// leadership says no; when it returns after the deadline, nothing is sent any more.
func TestHandlerIgnoresItsContext(t *testing.T) {
	for _, opts := range []Options{{}, {Keep: true}} {
		bubble(t, func(w *world) {
			a, b := w.sandbox("a", settings{opts: opts}), w.sandbox("b", settings{})
			a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
				time.Sleep(timeout + 20*time.Second)
				if ctx.Err() == nil || l.Context().Err() == nil || l.Check() == nil {
					t.Error("the handler was not told that its time is over")
				}
				return "done", nil
			}
			began := time.Now()
			writes := 2 // the win, and the renewal that lasts until the deadline
			if opts.Keep {
				writes = 1 // that term is longer
			}
			var err error
			w.costs("a handler that returns after the deadline", 1, writes, func() { _, err = a.invoke() })
			if time.Since(began) != timeout+20*time.Second {
				t.Error("the invocation did not wait for its handler")
			}
			if !errors.Is(err, core.ErrTermExpired) {
				t.Errorf("the term had passed, and the error is %v", err)
			}
			a.quiet(0)
			b.works()
		})
	}
}

// The handler may end its reign by itself, and leave a checkpoint.
func TestHandlerResigns(t *testing.T) {
	bubble(t, func(w *world) {
		for _, opts := range []Options{{}, {Keep: true}} {
			a := w.sandbox("a", settings{opts: opts})
			a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
				return "done", l.ResignWith(context.WithoutCancel(ctx), []byte("slot 7"))
			}
			w.costs("an invocation whose handler resigns", 1, 2, a.works)
			if e, _ := w.store.Stored(); !e.Vacant() || string(e.Checkpoint) != "slot 7" {
				t.Errorf("stored: %+v", e)
			}
			a.quiet(0)
		}
	})
}

// Somebody broke the reign while the handler ran, which was told and went on.
func TestLeadershipLostMeanwhile(t *testing.T) {
	bubble(t, func(w *world) {
		a := w.sandbox("a", settings{config: core.Config{TermLength: 3 * time.Second}})
		a.handle = func(ctx context.Context, l *core.Leadership, _ string) (string, error) {
			w.store.Lead("b", time.Minute)
			<-ctx.Done()
			return "done", nil
		}
		if _, err := a.invoke(); !errors.Is(err, core.ErrLeadershipLost) {
			t.Errorf("the error is %v, want ErrLeadershipLost", err)
		}
		if e, _ := w.store.Stored(); e.LeaderID != "b" {
			t.Errorf("the successor's entry was overwritten by %+v", e)
		}
		a.quiet(0)
	})
}

// A resignation that does not get through is no failure of the work.
func TestResignationFails(t *testing.T) {
	for _, faults := range []string{"write fail after=1", "write hang after=1", "write broken after=1"} {
		for _, work := range []time.Duration{0, 8 * time.Second} {
			bubble(t, func(w *world) {
				a := w.sandbox("a", settings{faults: faults})
				a.handle = func(context.Context, *core.Leadership, string) (string, error) {
					time.Sleep(work)
					return "done", nil
				}
				began := time.Now()
				a.works()
				if took := time.Since(began); took >= timeout {
					t.Errorf("%s, %v of work: the invocation took %v, longer than its deadline", faults, work, took)
				}
				a.quiet(0)
			})
		}
	}
}

// The handler returns so late that its term is over, and the store hangs: the
// attempt to make room for the next leader is cut off by the deadline.
func TestResignationAtTheLastMoment(t *testing.T) {
	bubble(t, func(w *world) {
		a := w.sandbox("a", settings{faults: "write hang after=2"})
		a.handle = func(context.Context, *core.Leadership, string) (string, error) {
			time.Sleep(timeout - 200*time.Millisecond)
			return "done", nil
		}
		began := time.Now()
		if _, err := a.invoke(); !errors.Is(err, core.ErrTermExpired) {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(began); took >= timeout {
			t.Errorf("the invocation took %v, longer than its deadline", took)
		}
		a.quiet(0)
	})
}

// Clocks an hour apart do not elect two leaders, and a crash of one does not
// keep the others out for longer than its term.
func TestClocksAnHourApart(t *testing.T) {
	bubble(t, func(w *world) {
		w.store.SetClock(w.sandbox("store", settings{}).clock)
		var boxes []*sandbox
		for i, offset := range []time.Duration{0, time.Hour, -time.Hour} {
			boxes = append(boxes, w.sandbox(string(rune('a'+i)), settings{opts: Options{Wait: 2 * time.Second}}))
			boxes[i].clock.Step(offset)
		}
		for i, box := range boxes {
			box.handle = func(context.Context, *core.Leadership, string) (string, error) {
				for j, other := range boxes {
					if i != j {
						other.skips()
					}
				}
				return "done", nil
			}
			box.works()
			box.quiet(0)
		}
	})
}
