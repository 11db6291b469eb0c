package schedule_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

const term = 15 * time.Second

// world is a store that tells its time, and a count of how often the work ran.
type world struct {
	t     *testing.T
	store *memory.Decider
	mu    sync.Mutex
	ran   []schedule.Slot
}

// bubble plays in a bubble that no goroutine may outlive.
func bubble(t *testing.T, play func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		play(t, &world{t: t, store: newStore()})
	})
	goleak.VerifyNone(t)
}

// newStore is a store that tells its time.
func newStore() *memory.Decider {
	store := memory.NewDecider()
	store.SetClock(clocks.DefaultClock())
	return store
}

// host is a process with a clock and a way to the store of its own.
type host struct {
	schedule.Config
	door *door
}

func (w *world) host(name string, ahead time.Duration) *host {
	d := &door{RaceDecider: w.store.Handle()}
	return &host{door: d, Config: schedule.Config{Election: core.Config{
		LeaderID: name, Decider: d, TermLength: term,
		Clock: skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: ahead}),
	}}}
}

// takes is work that lasts for d.
func (w *world) takes(d time.Duration) schedule.Work {
	return func(ctx context.Context, r *schedule.Run) error {
		w.mu.Lock()
		w.ran = append(w.ran, r.Slot())
		w.mu.Unlock()
		time.Sleep(d)
		return nil
	}
}

// fails is work that returns an error.
func (w *world) fails(ctx context.Context, r *schedule.Run) error {
	_ = w.takes(time.Second)(ctx, r)
	return errWork
}

var errWork = errors.New("the work failed")

// count is how often any work has run.
func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ran)
}

func (w *world) wantRuns(n int) {
	w.t.Helper()
	if got := w.count(); got != n {
		w.t.Errorf("the work ran %d times, want %d: %v", got, n, w.ran)
	}
}

// trigger runs h for a slot and wants this outcome.
func (w *world) trigger(h *host, s schedule.Slot, work schedule.Work, want schedule.Outcome, wantErr error) schedule.Result {
	w.t.Helper()
	res, err := h.Run(context.Background(), s, work)
	if res.Outcome != want || !errors.Is(err, wantErr) {
		w.t.Errorf("%s for %v: %v (%v), %v; want %v, %v", h.Election.LeaderID, s, res.Outcome, res, err, want, wantErr)
	}
	return res
}

// door is a host's way to the store: it counts, takes its time, and can be shut,
// which is what the death of a process looks like from the store.
type door struct {
	core.RaceDecider
	mu            sync.Mutex
	reads, writes int
	takes         time.Duration
	shut          error
	lose          int    // so many writes are applied and not answered
	stored        func() // called when a write was stored
	hang          int    // so many writes are applied and answered when their context ends
}

func (d *door) set(f func(d *door)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d)
}

func (d *door) pass(ctx context.Context, write bool) (lost bool, err error) {
	d.mu.Lock()
	if write {
		d.writes++
		if d.lose > 0 {
			d.lose--
			lost = true
		}
	} else {
		d.reads++
	}
	takes, shut := d.takes, d.shut
	d.mu.Unlock()
	if shut != nil {
		return false, shut
	}
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return lost, nil
}

func (d *door) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	if _, err := d.pass(ctx, false); err != nil {
		return nil, err
	}
	return d.RaceDecider.ReadCurrent(ctx)
}

func (d *door) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	lost, err := d.pass(ctx, true)
	if err != nil {
		return nil, err
	}
	tok, err := d.RaceDecider.WriteEntry(ctx, e)
	d.mu.Lock()
	stored, hang := d.stored, d.hang > 0
	d.hang--
	d.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if stored != nil {
		stored()
	}
	if lost {
		return nil, errNet
	}
	return tok, err
}

var errNet = errors.New("connection reset by peer")

// requests returns the counts since the last call.
func (d *door) requests() (reads, writes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	reads, writes = d.reads, d.writes
	d.reads, d.writes = 0, 0
	return reads, writes
}

func (w *world) wantRequests(h *host, what string, reads, writes int) {
	w.t.Helper()
	if r, wr := h.door.requests(); r != reads || wr != writes {
		w.t.Errorf("%s took %d reads and %d writes, want %d and %d", what, r, wr, reads, writes)
	}
}

// at is a slot so long after now.
func at(d time.Duration) schedule.Slot { return schedule.At(time.Now().Add(d)) }
