package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// diary notes what callbacks do, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

func (d *diary) want(t *testing.T, lines ...string) {
	t.Helper()
	synctest.Wait()
	if got := d.read(); !slices.Equal(got, lines) {
		t.Errorf("what happened: %q\nwant: %q", got, lines)
	}
}

// acquire runs Acquire in the background, with callbacks that keep a diary.
func (w *world) acquire(ctx context.Context, h *host) (*diary, <-chan error) {
	d := new(diary)
	h.OnElected = func(ctx context.Context, end *core.TimeView) {
		l, _ := core.FromContext(ctx)
		d.note("elected %d", l.FencingToken())
		<-ctx.Done()
		time.Sleep(time.Millisecond) // OnOusting does not wait for this
		if l.Check() == nil || end.ValueInFuture() {
			d.note("the reign is not over")
		}
		d.note("elected returns")
	}
	h.OnOusting = func(context.Context) { d.note("ousting") }
	out := make(chan error, 1)
	w.run(func() {
		err := h.Acquire(ctx)
		d.note("acquire returns")
		out <- err
	})
	return d, out
}

// A leader that leaves: context, OnOusting, OnElected's return, the vacant
// entry, Acquire's return.
func TestAcquireEndsInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		ctx, cancel := context.WithCancel(t.Context())
		d := new(diary)
		state := func(what string) {
			e := w.stored(t)
			d.note("%s: vacant %v", what, e.Vacant())
		}
		h.OnElected = func(ctx context.Context, _ *core.TimeView) {
			state("elected")
			<-ctx.Done()
			time.Sleep(2 * time.Second)
			state("elected returns")
		}
		h.OnOusting = func(octx context.Context) {
			if octx != ctx {
				t.Error("OnOusting did not get Acquire's context")
			}
			time.Sleep(time.Second)
			state("ousting returns")
		}
		out := make(chan error, 1)
		w.run(func() { out <- h.Acquire(ctx) })
		time.Sleep(term)
		cancel()
		if err := <-out; !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire = %v, want the context's error", err)
		}
		state("acquire returns")
		d.want(t, "elected: vacant false", "ousting returns: vacant false", "elected returns: vacant false", "acquire returns: vacant true")
	})
}

// OnOusting may be what makes OnElected return.
func TestAcquireOnOustingMakesOnElectedReturn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		stop := make(chan struct{})
		h.OnElected = func(context.Context, *core.TimeView) { <-stop }
		h.OnOusting = func(context.Context) { close(stop) }
		ctx, cancel := context.WithTimeout(t.Context(), term)
		defer cancel()
		if err := h.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire = %v", err)
		}
	})
}

// OnElected returning does not end the reign; that is the seed's meaning.
func TestAcquireOnElectedReturnsEarly(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		elected, ousted := 0, 0
		h.OnElected = func(context.Context, *core.TimeView) { elected++ }
		h.OnOusting = func(context.Context) { ousted++ }
		ctx, cancel := context.WithCancel(t.Context())
		out := make(chan error, 1)
		w.run(func() { out <- h.Acquire(ctx) })
		time.Sleep(5 * term)
		synctest.Wait()
		if got := w.stored(t); elected != 1 || ousted != 0 || got.LeaderID != "a" {
			t.Errorf("elected %d times, ousted %d times, stored %+v", elected, ousted, got)
		}
		cancel()
		<-out
		if elected != 1 || ousted != 1 {
			t.Errorf("elected %d times, ousted %d times", elected, ousted)
		}
	})
}

// Whoever never led is never ousted.
func TestAcquireWithoutAWin(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.host("b", nil).win(t)
		ctx, cancel := context.WithTimeout(t.Context(), 3*term)
		defer cancel()
		d, out := w.acquire(ctx, w.host("a", nil))
		if err := <-out; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Acquire = %v", err)
		}
		d.want(t, "acquire returns")
		resign(t, l)
	})
}

// After a loss and after an expiry it campaigns again, with a new token, and
// the callbacks stay in pairs.
func TestAcquireAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		ctx, cancel := context.WithCancel(t.Context())
		d, out := w.acquire(ctx, h)
		time.Sleep(term)
		w.store.Lead("b", term) // token 2, and never heard of again
		time.Sleep(3 * term)
		h.door.all(write, fault{kind: refuse})
		time.Sleep(2 * term)
		h.door.all(write, fault{})
		time.Sleep(term)
		cancel()
		<-out
		d.want(t, "elected 1", "ousting", "elected returns", "elected 3", "ousting", "elected returns",
			"elected 4", "ousting", "elected returns", "acquire returns")
	})
}

// A slow OnElected or OnOusting keeps Acquire from campaigning, so that the
// work of two reigns never overlaps in one process.
func TestAcquireWaitsForItsCallbacks(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		running := 0
		reigns := 0
		h.OnElected = func(ctx context.Context, _ *core.TimeView) {
			running++
			reigns++
			if running != 1 {
				t.Error("the work of two reigns overlaps")
			}
			<-ctx.Done()
			time.Sleep(5 * term)
			running--
		}
		ctx, cancel := context.WithCancel(t.Context())
		out := make(chan error, 1)
		w.run(func() { out <- h.Acquire(ctx) })
		time.Sleep(term)
		w.store.Lead("", term)
		time.Sleep(9 * term)
		cancel()
		<-out
		if reigns != 2 {
			t.Errorf("%d reigns, want 2", reigns)
		}
	})
}

// A broken store ends Acquire while nothing is led, and only then. A transient
// error never does.
func TestAcquireBrokenAndTransient(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		denied := fault{kind: refuse, err: fmt.Errorf("%w: denied", core.ErrBroken)}
		h := w.host("a", nil)
		h.door.all(read, fault{kind: refuse})
		d, out := w.acquire(t.Context(), h)
		time.Sleep(20 * term) // an outage
		h.door.all(read, fault{})
		h.door.then(write, fault{kind: refuse}, fault{kind: hang}, fault{kind: lose})
		time.Sleep(2 * term)
		d.want(t, "elected 1")
		h.door.then(write, denied, denied) // in the middle of a reign
		time.Sleep(2 * term)
		d.want(t, "elected 1")
		h.door.all(write, denied)
		if err := <-out; !errors.Is(err, core.ErrBroken) {
			t.Errorf("Acquire = %v, want ErrBroken", err)
		}
		d.want(t, "elected 1", "ousting", "elected returns", "acquire returns")
	})
}

// What contradicts itself is an error at once, all of it.
func TestAcquireInvalid(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("", nil)
		if err := h.Acquire(t.Context()); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("Acquire = %v", err)
		}
		h.LeaderID = "a"
		if err := h.Acquire(t.Context()); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("Acquire without OnElected = %v", err)
		}
		if err := h.RunAsLeader(t.Context(), nil); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("RunAsLeader without work = %v", err)
		}
		h.door.wantRequests(t, "invalid configurations", 0, 0)
	})
}

// Resign inside OnElected: no deadlock, and somebody else gets a turn.
func TestAcquireResignInsideOnElected(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		reigns := map[string]int{}
		var last string
		var mu sync.Mutex
		ctx, cancel := context.WithTimeout(t.Context(), 20*term)
		defer cancel()
		for _, name := range []string{"a", "b"} {
			h := w.host(name, nil)
			h.OnElected = func(ctx context.Context, _ *core.TimeView) {
				mu.Lock()
				reigns[name]++
				if last == name {
					t.Errorf("%s was elected twice in a row while another one waited", name)
				}
				last = name
				mu.Unlock()
				time.Sleep(time.Second)
				l, _ := core.FromContext(ctx)
				resign(t, l)
			}
			h.OnOusting = func(context.Context) {}
			w.run(func() {
				if err := h.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Acquire = %v", err)
				}
			})
		}
		w.done.Wait()
		if reigns["a"] < 3 || reigns["b"] < 3 {
			t.Errorf("reigns: %v", reigns)
		}
	})
}

// Alone, whoever steps down is elected again after a while.
func TestAcquireResignAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		var wins []time.Time
		h.OnElected = func(ctx context.Context, _ *core.TimeView) {
			wins = append(wins, time.Now())
			l, _ := core.FromContext(ctx)
			resign(t, l)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*term)
		defer cancel()
		_ = h.Acquire(ctx)
		if len(wins) < 3 {
			t.Fatalf("%d wins", len(wins))
		}
		for i := range wins[1:] {
			if gap := wins[i+1].Sub(wins[i]); gap <= poll {
				t.Errorf("elected again after %v: before anybody else could read", gap)
			}
		}
	})
}

// LeaderChanged: once for every change of leader or of reign, one's own
// included, and when it becomes vacant; never for a renewal.
func TestAcquireLeaderChanged(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.NoClockProof = true
		d := new(diary)
		h.LeaderChanged = func(_ context.Context, e entry.RaceEntry) { d.note("%s %d", e.LeaderID, e.FencingToken) }
		b := w.host("b", nil)
		other := b.win(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, out := w.acquire(ctx, h)
		time.Sleep(3 * term) // with renewals
		d.want(t, "b 1")
		resign(t, other)
		time.Sleep(3 * term)
		d.want(t, "b 1", " 1", "a 2")
		w.store.Lead("b", term) // a new reign of the same leader
		time.Sleep(term / 2)
		w.store.Lead("b", term)
		time.Sleep(term / 2)
		d.want(t, "b 1", " 1", "a 2", "b 3", "b 4")
		time.Sleep(2 * term)
		cancel()
		<-out
		d.want(t, "b 1", " 1", "a 2", "b 3", "b 4", "a 5", " 5")
	})
}

// A slow LeaderChanged hears of the newest only, and is never called twice at once.
func TestAcquireLeaderChangedSlow(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		d := new(diary)
		running := 0
		h.LeaderChanged = func(_ context.Context, e entry.RaceEntry) {
			if running++; running != 1 {
				t.Error("called twice at once")
			}
			d.note("%s", e.LeaderID)
			time.Sleep(term)
			running--
		}
		ctx, cancel := context.WithCancel(t.Context())
		w.store.Lead("1", 100*term)
		_, out := w.acquire(ctx, h)
		for i := 2; i < 8; i++ {
			time.Sleep(term / 5)
			w.store.Lead(fmt.Sprint(i), 100*term)
		}
		time.Sleep(3 * term)
		cancel()
		<-out
		if got := d.read(); len(got) != 3 || got[0] != "1" || got[2] != "7" {
			t.Errorf("told of %q, want the first, one in between and the last", got)
		}
	})
}

// Nothing stored, or a vacant entry, is no change for whoever has just come.
func TestAcquireLeaderChangedAtFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for range 2 {
			h := w.host("a", nil)
			d := new(diary)
			h.LeaderChanged = func(_ context.Context, e entry.RaceEntry) { d.note("%q", e.LeaderID) }
			resign(t, h.win(t))
			d.want(t, `"a"`, `""`)
		}
	})
}

// Callbacks of Campaign and TryAcquire are told as well.
func TestAcquireLeaderChangedWithoutAcquire(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("b", term)
		h := w.host("a", nil)
		d := new(diary)
		h.LeaderChanged = func(_ context.Context, e entry.RaceEntry) { d.note("%s", e.LeaderID) }
		l, err := h.TryAcquire(t.Context())
		wantHeld(t, l, err)
		d.want(t, "b") // before it returned: no goroutine is left behind
	})
}

// MinHold with Acquire: the next win comes no sooner than that.
func TestAcquireMinHold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.MinHold = time.Minute
		var wins []time.Time
		h.OnElected = func(ctx context.Context, _ *core.TimeView) {
			wins = append(wins, time.Now())
			l, _ := core.FromContext(ctx)
			resign(t, l)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		_ = h.Acquire(ctx)
		if len(wins) < 4 {
			t.Errorf("%d wins in five minutes", len(wins))
		}
		for i := range wins[1:] {
			if gap := wins[i+1].Sub(wins[i]); gap < time.Minute {
				t.Errorf("elected again after %v", gap)
			}
		}
	})
}
