package k8slock_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"

	"github.com/cloudelect/cloudelect/adapters/k8slock"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// client-go's defaults, and the longest pause between two attempts of a candidate:
// client-go jitters RetryPeriod by up to 1.2 of itself.
const (
	leaseTime = 15 * time.Second
	deadline  = 10 * time.Second
	retry     = 2 * time.Second
	pause     = retry * 22 / 10
)

// world is one election, and who leads in it by true time.
type world struct {
	t     *testing.T
	store *memory.Decider

	mu     sync.Mutex
	leads  map[string]int64 // who works now, and with which token
	reigns []reign
}

type reign struct {
	who   string
	token int64
	at    time.Time
}

// bubble plays with virtual time: client-go's own timers move with it.
func bubble(t *testing.T, play func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { play(t, newWorld(t)) })
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: memory.NewDecider(), leads: map[string]int64{}}
	w.store.SetClock(clocks.DefaultClock())
	return w
}

// works is what a leader does: it looks around, and works until its context ends.
func (w *world) works(ctx context.Context, who string, token int64) {
	w.mu.Lock()
	if len(w.leads) > 0 {
		w.t.Errorf("%v: %q leads with token %d while %v do", time.Now(), who, token, w.leads)
	}
	w.leads[who] = token
	for _, r := range w.reigns {
		if token <= r.token {
			w.t.Errorf("%q leads with token %d after %q did with %d", who, token, r.who, r.token)
		}
	}
	w.reigns = append(w.reigns, reign{who, token, time.Now()})
	w.mu.Unlock()
	<-ctx.Done()
	w.rests(who)
}

// rests ends somebody's work.
func (w *world) rests(who string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.leads, who)
}

func (w *world) leaders() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string]int64{}
	for who, token := range w.leads {
		all[who] = token
	}
	return all
}

func (w *world) past() []reign {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]reign(nil), w.reigns...)
}

// leader waits until somebody leads, and says who, since when, and with which token.
func (w *world) leader(after int) reign {
	w.t.Helper()
	for range 60_000 {
		if all := w.past(); len(all) > after {
			return all[len(all)-1]
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatalf("nobody has led after %v", w.past())
	return reign{}
}

// elector is client-go's, in a goroutine of its own.
type elector struct {
	world  *world
	lock   *k8slock.Lock
	cancel context.CancelFunc
	done   chan struct{} // client-go's Run has returned
	worked chan struct{} // and the work too
}

func (w *world) lock(d core.RaceDecider, identity string, opts *k8slock.Options) *k8slock.Lock {
	w.t.Helper()
	l, err := k8slock.New(d, identity, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// run starts an elector with client-go's defaults.
func (w *world) run(l *k8slock.Lock, release bool) *elector {
	return w.runWith(l, leaderelection.LeaderElectionConfig{
		LeaseDuration: leaseTime, RenewDeadline: deadline, RetryPeriod: retry, ReleaseOnCancel: release})
}

func (w *world) runWith(l *k8slock.Lock, cfg leaderelection.LeaderElectionConfig) *elector {
	w.t.Helper()
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	e := &elector{world: w, lock: l, cancel: cancel, done: make(chan struct{}), worked: make(chan struct{})}
	cfg.Lock = l
	work := make(chan context.Context, 1)
	cfg.Callbacks = leaderelection.LeaderCallbacks{
		// The channel keeps count of the goroutine that client-go does not wait for.
		OnStartedLeading: func(ctx context.Context) { work <- ctx },
		OnStoppedLeading: func() {},
	}
	le, err := leaderelection.NewLeaderElector(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(e.worked)
		select {
		case lead := <-work:
			w.works(lead, l.Identity(), l.FencingToken())
		case <-e.done:
		}
	}()
	go func() {
		defer close(e.done)
		le.Run(ctx)
	}()
	return e
}

// stop ends the work, as ReleaseOnCancel demands, cancels the elector's context and
// waits for it. Without ReleaseOnCancel that is what a crash looks like from outside.
func (e *elector) stop() {
	e.world.rests(e.lock.Identity())
	e.cancel()
	<-e.done
	<-e.worked
}

func (r reign) String() string { return fmt.Sprintf("%s with token %d", r.who, r.token) }
