package gocronleader_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/adapters/gocronleader"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// candidate is an instance with an elector.
type candidate struct {
	*instance
	*gocronleader.Elector
	store *memory.Decider
	stop  context.CancelFunc
	ended chan error
}

func (w *world) candidate(name string, ahead time.Duration) *candidate {
	w.t.Helper()
	c := &candidate{store: w.store("election"), ended: make(chan error, 1)}
	e, err := gocronleader.NewElector(core.Config{LeaderID: name, Decider: c.store, TermLength: term,
		Clock: skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: ahead})})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c.Elector, c.stop = e, stop
	c.instance = w.scheduler(&instance{}, ahead, gocron.WithDistributedElector(e))
	go func() { c.ended <- e.Run(ctx) }()
	c.job(w.t, gocron.DurationJob(time.Minute), gocron.NewTask(func() { w.note(name) }))
	synctest.Wait()
	return c
}

func (c *candidate) end(t *testing.T) {
	t.Helper()
	c.shutdown(t)
	c.stop()
	if err := <-c.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
}

func TestElectorRunsJobsOnTheLeader(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.candidate("a", time.Hour), w.candidate("b", -time.Hour)
		time.Sleep(10*time.Minute + time.Second)
		if err := a.IsLeader(t.Context()); err != nil {
			t.Error(err)
		}
		if err := b.IsLeader(t.Context()); !errors.Is(err, gocronleader.ErrNotLeader) || !strings.Contains(err.Error(), `"a"`) {
			t.Error(err)
		}
		a.end(t)
		if err := a.IsLeader(t.Context()); !errors.Is(err, gocronleader.ErrNotLeader) {
			t.Error(err)
		}
		time.Sleep(10 * time.Minute)
		b.end(t)
		count := map[string]int{}
		for _, r := range w.ran() {
			count[r.who]++
		}
		if count["a"] != 10 || count["b"] != 10 {
			t.Errorf("they ran %v times", count)
		}
	})
}

// A leader that cannot renew stops in time, whatever it has heard.
func TestElectorWithAStoreThatIsDown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.candidate("a", 0)
		time.Sleep(time.Second)
		ctx, release := a.Bind(context.Background())
		defer release()
		a.store.FailNext(1000, errNet)
		time.Sleep(term)
		if err := a.IsLeader(t.Context()); !errors.Is(err, gocronleader.ErrNotLeader) {
			t.Error(err)
		}
		if cause := context.Cause(ctx); !errors.Is(cause, core.ErrTermExpired) {
			t.Errorf("the job's context: %v", cause)
		}
		a.store.FailNext(0, nil)
		time.Sleep(3 * term)
		if err := a.IsLeader(t.Context()); err != nil {
			t.Error(err)
		}
		a.end(t)
	})
}

func TestElectorBeforeRun(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		if _, err := gocronleader.NewElector(core.Config{}); !errors.Is(err, core.ErrInvalidConfig) {
			t.Error(err)
		}
		e, err := gocronleader.NewElector(core.Config{LeaderID: "a", Decider: w.store("election")})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.IsLeader(t.Context()); !errors.Is(err, gocronleader.ErrNotLeader) {
			t.Error(err)
		}
		ctx, release := e.Bind(context.Background())
		defer release()
		if !errors.Is(context.Cause(ctx), gocronleader.ErrNotLeader) {
			t.Error(context.Cause(ctx))
		}
	})
}

func TestElectorCallsTheUsersHooks(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(context.Background())
		var elected sync.WaitGroup
		elected.Add(1)
		e, err := gocronleader.NewElector(core.Config{LeaderID: "a", Decider: w.store("election"),
			OnElected: func(context.Context, *core.TimeView) { elected.Done() }})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		elected.Wait()
		stop()
		<-done
	})
}

// A second Run is refused, and the first one leads on.
func TestElectorRunsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.candidate("a", 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Run(ctx); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("a second Run: %v", err)
		}
		time.Sleep(2 * term)
		if err := a.IsLeader(t.Context()); err != nil {
			t.Error(err)
		}
		a.end(t)
		if err := a.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run after the end of the first: %v", err)
		}
	})
}
