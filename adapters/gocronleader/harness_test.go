package gocronleader_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/adapters/gocronleader"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

const (
	period = 5 * time.Minute
	term   = 15 * time.Second
)

var errNet = errors.New("connection reset by peer")

// world is the store, one record per job, and what the jobs have noted.
type world struct {
	t  *testing.T
	mu sync.Mutex
	// stores are the jobs' elections; runs are who ran, and when.
	stores map[string]*memory.Decider
	runs   []run
}

type run struct {
	who string
	at  time.Time
}

func bubble(t *testing.T, play func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		play(t, &world{t: t, stores: map[string]*memory.Decider{}})
	})
	goleak.VerifyNone(t)
}

func (w *world) store(job string) *memory.Decider {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stores[job] == nil {
		w.stores[job] = memory.NewDecider()
		w.stores[job].SetClock(clocks.DefaultClock())
	}
	return w.stores[job].Handle()
}

func (w *world) note(who string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, run{who, time.Now()})
}

func (w *world) ran() []run {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]run(nil), w.runs...)
}

// perSlot counts the runs of each slot, by the true time.
func (w *world) perSlot() map[time.Time]int {
	counts := map[time.Time]int{}
	for _, r := range w.ran() {
		counts[r.at.Truncate(period)]++
	}
	return counts
}

// instance is a host with clocks that are ahead, gocron's included.
type instance struct {
	gocron.Scheduler
	locker *gocronleader.Locker
}

// hostClock is gocron's clock on a host that is ahead.
type hostClock struct {
	clockwork.Clock
	ahead time.Duration
}

func (c hostClock) Now() time.Time                  { return time.Now().Add(c.ahead) }
func (c hostClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c hostClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

func (w *world) instance(name string, ahead time.Duration, policy schedule.Policy) *instance {
	w.t.Helper()
	l, err := gocronleader.NewLocker(gocronleader.LockerConfig{
		Election: core.Config{LeaderID: name, TermLength: term,
			Clock: skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: ahead})},
		Decider:   func(job string) core.RaceDecider { return w.store(job) },
		Slot:      schedule.Every(period, nil),
		OnFailure: policy,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.scheduler(&instance{locker: l}, ahead, gocron.WithDistributedLocker(l))
}

func (w *world) scheduler(i *instance, ahead time.Duration, opts ...gocron.SchedulerOption) *instance {
	w.t.Helper()
	s, err := gocron.NewScheduler(append(opts, gocron.WithClock(hostClock{clockwork.NewRealClock(), ahead}), gocron.WithLocation(time.UTC))...)
	if err != nil {
		w.t.Fatal(err)
	}
	i.Scheduler = s
	s.Start()
	return i
}

// job adds a job with a name that all instances share.
func (i *instance) job(t *testing.T, when gocron.JobDefinition, task gocron.Task, opts ...gocron.JobOption) {
	t.Helper()
	if _, err := i.NewJob(when, task, append(opts, gocron.WithName("report"))...); err != nil {
		t.Fatal(err)
	}
}

func (i *instance) shutdown(t *testing.T) {
	t.Helper()
	if err := i.Shutdown(); err != nil {
		t.Error(err)
	}
}
