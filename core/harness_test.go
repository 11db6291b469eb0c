package core_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// The tests of this package play in a bubble, whose time is the true one. Every
// candidate is a host with clocks of its own and a door to the store of its
// own, through which the test lets its requests go wrong.

// What the hosts of these tests have for settings, unless a test changes it.
const (
	term = 10 * time.Second
	poll = time.Second
)

// world is one store and the hosts that campaign in it.
type world struct {
	store *memory.Decider
	hosts int
	done  sync.WaitGroup
	calls atomic.Int64 // store calls under way
}

// bubble runs play in a bubble, and fails if it leaves a goroutine behind: one
// that is stuck makes the bubble itself panic, one outside it goleak finds.
func bubble(t *testing.T, play func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{store: memory.NewDecider()}
		play(t, w)
		w.done.Wait()
		for w.calls.Load() > 0 { // until the store calls that ignore their context have ended
			time.Sleep(time.Second)
		}
	})
	goleak.VerifyNone(t)
}

// tellTime gives the store a clock that is ahead of the true one.
func (w *world) tellTime(ahead time.Duration) clocks.Clock {
	c := skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: ahead})
	w.store.SetClock(c)
	return c
}

// run calls f on a goroutine that the bubble waits for.
func (w *world) run(f func()) { w.done.Go(f) }

// host is a candidate with all that it runs on.
type host struct {
	core.Config
	clock *skewclock.Clock
	door  *door

	mu     sync.Mutex
	events []core.Event
}

// host makes a candidate. Its requests take as many nanoseconds as it has
// predecessors, so that no two of them do anything at the same instant and a
// run repeats itself.
func (w *world) host(name string, opts *skewclock.Options) *host {
	w.hosts++
	h := &host{
		clock: skewclock.New(clocks.DefaultClock(), opts),
		door:  &door{RaceDecider: w.store.Handle(), lane: time.Duration(w.hosts), under: &w.calls},
	}
	h.Config = core.Config{LeaderID: name, Decider: h.door, Clock: h.clock,
		TermLength: term, PollInterval: poll, OnEvent: h.note}
	return h
}

func (h *host) note(e core.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// told returns the events of this kind so far.
func (h *host) told(kind core.EventKind) []core.Event {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []core.Event
	for _, e := range h.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// win campaigns, and fails the test if that does.
func (h *host) win(t *testing.T) *core.Leadership {
	t.Helper()
	return h.winIn(t, t.Context())
}

func (h *host) winIn(t *testing.T, ctx context.Context) *core.Leadership {
	t.Helper()
	l, err := h.Campaign(ctx)
	if err != nil {
		t.Fatalf("%s was not elected: %v", h.LeaderID, err)
	}
	return l
}

// lead is win for a leader that renews only when it is told to.
func (h *host) lead(t *testing.T) *core.Leadership {
	t.Helper()
	h.ManualRenew = true
	return h.win(t)
}

// campaign campaigns in the background. What comes out arrives in the channel.
func (w *world) campaign(ctx context.Context, h *host) <-chan result {
	out := make(chan result, 1)
	w.run(func() {
		l, err := h.Campaign(ctx)
		out <- result{l, err, time.Now()}
	})
	return out
}

type result struct {
	*core.Leadership
	err error
	at  time.Time
}

// resign ends a reign that the test is done with.
func resign(t *testing.T, l *core.Leadership) {
	t.Helper()
	if err := l.Resign(context.Background()); err != nil {
		t.Errorf("Resign: %v", err)
	}
}

// handle is a way to the store. With omit, lost races do not tell what is stored.
func (w *world) handle(omit bool) *memory.Decider {
	d := w.store.Handle()
	d.OmitCurrent(omit)
	return d
}

// sentAt is when h sent the write with this nonce.
func (w *world) sentAt(h *host, nonce string) time.Time {
	for _, c := range h.door.log() {
		if c.op == write && c.entry.Nonce == nonce {
			return c.at
		}
	}
	return time.Time{}
}

// stored is what the store holds.
func (w *world) stored(t *testing.T) entry.RaceEntry {
	t.Helper()
	e, ok := w.store.Stored()
	if !ok {
		t.Fatal("nothing is stored, or nothing that is an entry")
	}
	return e
}

// door is a host's way to the store: it counts, and things go wrong in it.
type door struct {
	core.RaceDecider
	lane  time.Duration
	under *atomic.Int64

	mu     sync.Mutex
	calls  []call
	next   map[op][]fault
	always map[op]fault
}

// op tells the door's requests apart.
type op int

const (
	read op = iota
	write
)

// call is a request as the door saw it.
type call struct {
	op    op
	at    time.Time
	entry entry.RaceEntry // of a write
	err   error           // the answer that the host got
	took  time.Duration   // until it got it
}

// fault is what happens to a request.
type fault struct {
	kind faultKind
	d    time.Duration
	err  error // for refuse
}

type faultKind int

const (
	none      faultKind = iota
	refuse              // not sent: err, or an unknown outcome
	lose                // applied; the answer is lost, which is known after d
	duplicate           // applied twice; the second answer counts
	hang                // not sent, no answer until the context ends
	hangAfter           // applied, no answer until the context ends
	stuck               // not sent, no answer for d, whatever the context says
	late                // unknown at once; applied after d
	stuckLate           // applied and answered after d, whatever the context says
	slowBack            // applied at once, answered after d, whatever the context says
)

var errNet = errors.New("connection reset by peer")

// then lets faults happen to the next requests of this kind, one each.
func (d *door) then(o op, faults ...fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next == nil {
		d.next = map[op][]fault{}
	}
	d.next[o] = append(d.next[o], faults...)
}

// all lets a fault happen to every request of this kind that then says nothing
// about; all(o, fault{}) ends that.
func (d *door) all(o op, f fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.always == nil {
		d.always = map[op]fault{}
	}
	d.always[o] = f
}

func (d *door) enter(o op, e *entry.RaceEntry) (fault, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := call{op: o, at: time.Now()}
	if e != nil {
		c.entry = e.Clone()
	}
	d.under.Add(1)
	d.calls = append(d.calls, c)
	f := d.always[o]
	if q := d.next[o]; len(q) > 0 {
		f, d.next[o] = q[0], q[1:]
	}
	return f, len(d.calls) - 1
}

func (d *door) leave(n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[n].err, d.calls[n].took = err, time.Since(d.calls[n].at)
}

func (d *door) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	defer d.under.Add(-1)
	f, n := d.enter(write, e)
	sent := e.Clone()
	tok, err := suffer(ctx, d.lane, d.under, f, func(ctx context.Context) (entry.LeaderToken, error) {
		return d.RaceDecider.WriteEntry(ctx, &sent)
	})
	d.leave(n, err)
	return tok, err
}

func (d *door) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	defer d.under.Add(-1)
	f, n := d.enter(read, nil)
	e, err := suffer(ctx, d.lane, d.under, f, d.RaceDecider.ReadCurrent)
	d.leave(n, err)
	return e, err
}

// suffer sends a request and lets f happen to it.
func suffer[T any](ctx context.Context, lane time.Duration, under *atomic.Int64, f fault, send func(context.Context) (T, error)) (T, error) {
	var nothing T
	time.Sleep(lane)
	free := context.WithoutCancel(ctx)
	switch f.kind {
	case refuse:
		if f.err != nil {
			return nothing, f.err
		}
		return nothing, errNet
	case lose:
		_, _ = send(ctx)
		time.Sleep(f.d)
		return nothing, errNet
	case duplicate:
		_, _ = send(ctx)
		return send(ctx)
	case hang:
		<-ctx.Done()
		return nothing, ctx.Err()
	case hangAfter:
		_, _ = send(ctx)
		<-ctx.Done()
		return nothing, ctx.Err()
	case stuck:
		time.Sleep(f.d)
		return nothing, errNet
	case late:
		under.Add(1)
		go func() {
			defer under.Add(-1)
			time.Sleep(f.d)
			_, _ = send(free)
		}()
		return nothing, errNet
	case stuckLate:
		time.Sleep(f.d)
		return send(free)
	case slowBack:
		v, err := send(ctx)
		time.Sleep(f.d)
		return v, err
	}
	return send(ctx)
}

// log returns the requests so far.
func (d *door) log() []call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// forget starts the count anew.
func (d *door) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = nil
}

// wantRequests fails the test unless the door saw this many since forget.
func (d *door) wantRequests(t *testing.T, what string, reads, writes int) {
	t.Helper()
	synctest.Wait()
	r, w := 0, 0
	for _, c := range d.log() {
		if c.op == read {
			r++
		} else {
			w++
		}
	}
	if r != reads || w != writes {
		t.Errorf("%s took %d reads and %d writes, want %d and %d", what, r, w, reads, writes)
	}
}

// wantOver fails the test unless the reign is over for this reason, by its
// clocks, its context and its view.
func wantOver(t *testing.T, l *core.Leadership, why error) {
	t.Helper()
	if err := l.Check(); !errors.Is(err, why) {
		t.Errorf("Check = %v, want %v", err, why)
	}
	synctest.Wait()
	if cause := context.Cause(l.Context()); !errors.Is(cause, why) {
		t.Errorf("the context's cause is %v, want %v", cause, why)
	}
	if l.Expiration().ValueInFuture() {
		t.Error("the reign is over and its TimeView shows the future")
	}
}

// wantLeading fails the test unless the reign lasts.
func wantLeading(t *testing.T, l *core.Leadership) {
	t.Helper()
	if err := l.Check(); err != nil {
		t.Errorf("Check = %v, want a leader", err)
	}
	if l.Context().Err() != nil {
		t.Errorf("the context has ended: %v", context.Cause(l.Context()))
	}
}

// wantHeld fails the test unless an attempt ended because the election is held.
func wantHeld(t *testing.T, l *core.Leadership, err error) *core.HeldError {
	t.Helper()
	var held *core.HeldError
	if l != nil || !errors.As(err, &held) || !errors.Is(err, core.ErrHeld) {
		t.Fatalf("elected: %v, error: %v; want a HeldError", l != nil, err)
	}
	return held
}
