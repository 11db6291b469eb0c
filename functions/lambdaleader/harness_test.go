package lambdaleader

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/faultdecider"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// The tests play in a bubble, whose time is the true one. A sandbox is a process
// with clocks and a way to the store of its own.

// timeout is what the function of these tests is configured with.
const timeout = 10 * time.Second

// world is one store, and the sandboxes of a function.
type world struct {
	*testing.T
	store  *memory.Decider
	before goleak.Option // the goroutines that were there before
}

// bubble runs play, and fails if it leaves a goroutine behind.
func bubble(t *testing.T, play func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		play(&world{T: t, store: memory.NewDecider(), before: goleak.IgnoreCurrent()})
	})
	goleak.VerifyNone(t)
}

// sandbox is one process of the function.
type sandbox struct {
	w      *world
	clock  *skewclock.Clock
	timers timerCount
	leader *Leader
	handle Handler[string, string]
	follow func(context.Context, string, *core.HeldError) (string, error)
}

// settings are what a sandbox is started with. The zero value is sound.
type settings struct {
	clock  skewclock.Options
	faults string // of its way to the store, as faultdecider has them
	config core.Config
	opts   Options
}

var errHandler = errors.New("the handler's own error")

// sandbox starts one. Its handler answers "done", and checks what it was given.
func (w *world) sandbox(name string, s settings) *sandbox {
	w.Helper()
	b := &sandbox{w: w, clock: skewclock.New(clocks.DefaultClock(), &s.clock)}
	b.timers.Clock = b.clock
	plan, err := faultdecider.Parse(s.faults)
	if err != nil {
		w.Fatal(err)
	}
	door, err := faultdecider.New(w.store.Handle(), plan, &faultdecider.Options{Clock: b.clock})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(door.Close)
	s.config.LeaderID, s.config.Decider, s.config.Clock = name, door, &b.timers
	if b.leader, err = New(s.config, &s.opts); err != nil {
		w.Fatal(err)
	}
	b.handle = func(context.Context, *core.Leadership, string) (string, error) { return "done", nil }
	return b
}

// invoke calls the function as the runtime does, with its timeout.
func (b *sandbox) invoke() (string, error) { return b.invokeFor(timeout) }

func (b *sandbox) invokeFor(d time.Duration) (string, error) {
	ctx, cancel := b.clock.ContextWithTimeout(context.Background(), d)
	defer cancel()
	return WrapOr(b.leader, func(ctx context.Context, l *core.Leadership, in string) (string, error) {
		if found, ok := core.FromContext(ctx); !ok || found != l {
			b.w.Error("the handler's context does not know the leadership")
		}
		if err := l.Check(); err != nil {
			b.w.Errorf("the handler was called without a leadership: %v", err)
		}
		return b.handle(ctx, l, in)
	}, b.follow)(ctx, "event")
}

// works fails the test unless an invocation leads and succeeds.
func (b *sandbox) works() {
	b.w.Helper()
	if out, err := b.invoke(); out != "done" || err != nil {
		b.w.Errorf("invocation of %s = %q, %v; want it to work", b.leader.LeaderID(), out, err)
	}
}

// skips fails the test unless an invocation is a follower's.
func (b *sandbox) skips() {
	b.w.Helper()
	if out, err := b.invoke(); out != "" || err != nil {
		b.w.Errorf("invocation of %s = %q, %v; want it to be skipped", b.leader.LeaderID(), out, err)
	}
}

// costs runs f and fails the test unless it takes this many requests.
func (w *world) costs(what string, reads, writes int, f func()) {
	w.Helper()
	r0, w0 := w.store.Requests()
	f()
	r1, w1 := w.store.Requests()
	if r1-r0 != reads || w1-w0 != writes {
		w.Errorf("%s took %d reads and %d writes, want %d and %d", what, r1-r0, w1-w0, reads, writes)
	}
}

// quiet fails the test unless nothing of the sandbox runs: no goroutine, and this
// many timers.
func (b *sandbox) quiet(timers int64) {
	b.w.Helper()
	synctest.Wait() // what was told to end has ended
	if n := b.timers.pending.Load(); n != timers {
		b.w.Errorf("%d timers are pending after the invocation, want %d", n, timers)
	}
	if err := goleak.Find(b.w.before); err != nil {
		b.w.Error(err)
	}
}

// timerCount counts the timers that are pending.
type timerCount struct {
	*skewclock.Clock
	pending atomic.Int64
}

func (c *timerCount) AfterFunc(d time.Duration, f func()) clocks.StopTimer {
	c.pending.Add(1)
	t := &countedTimer{pending: &c.pending}
	t.StopTimer = c.Clock.AfterFunc(d, func() {
		t.done()
		f()
	})
	return t
}

func (c *timerCount) NewTimer(d time.Duration) clocks.Timer {
	c.pending.Add(1)
	return &countedChan{Timer: c.Clock.NewTimer(d), pending: &c.pending}
}

func (c *timerCount) ContextWithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.ContextWithTimeoutCause(ctx, d, nil)
}

func (c *timerCount) ContextWithTimeoutCause(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	c.pending.Add(1)
	ctx, cancel := c.Clock.ContextWithTimeoutCause(ctx, d, cause)
	var once sync.Once
	return ctx, func() {
		cancel()
		once.Do(func() { c.pending.Add(-1) })
	}
}

type countedTimer struct {
	clocks.StopTimer
	pending *atomic.Int64
	once    sync.Once
}

func (t *countedTimer) done() { t.once.Do(func() { t.pending.Add(-1) }) }

func (t *countedTimer) Stop() bool {
	t.done()
	return t.StopTimer.Stop()
}

type countedChan struct {
	clocks.Timer
	pending *atomic.Int64
}

func (t *countedChan) Stop() bool {
	t.pending.Add(-1)
	return t.Timer.Stop()
}
