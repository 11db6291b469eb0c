package netfault

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"
)

// Options are what may be chosen about an injector. Nil or the zero value: the
// system's clock, no schedule, a free port.
type Options struct {
	// Clock times the delays; nil: the system's.
	Clock clocks.Clock
	// Schedule is in force from the first request on; nil: none. See
	// [Injector.SetSchedule].
	Schedule *Schedule
	// Addr is where [Listen] listens; "": "127.0.0.1:0", a free port. Only
	// loopback addresses are accepted.
	Addr string
}

// Injector decides what happens to each request and keeps the record of
// all of them. It is the common part of [Proxy] and [Transport]. Its methods may be called from any
// goroutine, at any time.
type Injector struct {
	clock clocks.Clock

	life   context.Context // ends with Close: nothing waits longer
	end    context.CancelCauseFunc
	active sync.WaitGroup // requests under way

	mu       sync.Mutex
	closed   bool
	faults   []*Fault
	schedule *Schedule
	turn     uint64 // requests that the schedule has seen
	requests []*Request
	ahead    time.Duration // the store's clock
}

var errClosed = errors.New("netfault: closed")

func newInjector(opts *Options) (*Injector, error) {
	if opts == nil {
		opts = &Options{}
	}
	i := &Injector{clock: opts.Clock}
	if i.clock == nil {
		i.clock = clocks.DefaultClock()
	}
	if err := i.SetSchedule(opts.Schedule); err != nil {
		return nil, err
	}
	i.life, i.end = context.WithCancelCause(context.Background())
	return i, nil
}

// Inject adds faults for the requests to come. Of the faults that end a request
// each request meets the first that matches, in the order of injection; the
// others are kept for later requests. So Reset with Count 2 and LoseAnswer with Count 1 cut two
// requests off and lose the answer of the third. When one of them is not valid
// nothing is added.
func (i *Injector) Inject(faults ...Fault) error {
	for k := range faults {
		if err := faults[k].validate(); err != nil {
			return err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range faults {
		i.faults = append(i.faults, &f)
	}
	return nil
}

// SetClock sets the store's clock ahead of the server's; negative: behind. Every
// answer that leaves from now on and has a Date has that clock's, until the next
// SetClock: to call it once more is how a store's clock jumps. Unlike ShiftDate, which
// comes on top of it, it is no fault of single requests, and outlasts Clear.
func (i *Injector) SetClock(ahead time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ahead = ahead
}

func (i *Injector) clockAhead() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ahead
}

// Clear ends all faults, the schedule's too. Requests that have met one already,
// and are delayed or hang, are not released.
func (i *Injector) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.faults, i.schedule = nil, nil
}

// SetSchedule replaces the schedule and begins it with the next request. Nil
// ends it. Faults of Inject come first.
func (i *Injector) SetSchedule(s *Schedule) error {
	var own *Schedule
	if s != nil {
		if err := s.Validate(); err != nil {
			return err
		}
		own = &Schedule{Seed: s.Seed, Chances: append([]Chance(nil), s.Chances...)}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.schedule, i.turn = own, 0
	return nil
}

// plan is the faults that one request meets.
type plan []Fault

func (p plan) find(kinds ...Kind) (Fault, bool) {
	for _, f := range p {
		for _, k := range kinds {
			if f.Kind == k {
				return f, true
			}
		}
	}
	return Fault{}, false
}

// total is how long all faults of a kind take together.
func (p plan) total(kind Kind) (sum time.Duration) {
	for _, f := range p {
		if f.Kind == kind {
			sum += f.For
		}
	}
	return sum
}

func (p plan) String() string {
	names := make([]string, len(p))
	for k, f := range p {
		names[k] = f.effect()
	}
	return strings.Join(names, " + ")
}

// admit enters a request into the record and decides what it will meet.
func (i *Injector) admit(r *http.Request) (*Request, plan, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, nil, errClosed
	}
	i.active.Add(1)

	var p plan
	ended := false
	kept := i.faults[:0]
	for _, f := range i.faults {
		if (f.Kind.ends() && ended) || !f.matches(r) {
			kept = append(kept, f)
			continue
		}
		p = append(p, *f)
		ended = ended || f.Kind.ends()
		if f.Count != 1 { // 0: for ever
			if f.Count > 1 {
				f.Count--
			}
			kept = append(kept, f)
		}
	}
	i.faults = kept
	if i.schedule != nil {
		for _, f := range i.schedule.draw(i.turn, r) {
			if f.Kind.ends() && ended {
				continue
			}
			ended = ended || f.Kind.ends()
			p = append(p, f)
		}
		i.turn++
	}
	record := &Request{
		Seq: len(i.requests) + 1, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Write: IsWrite(r), Fault: p.String(),
	}
	i.requests = append(i.requests, record)
	return record, p, nil
}

// shut ends what hangs or is delayed, and waits until no request is under way.
func (i *Injector) shut() {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.end(errClosed)
	i.active.Wait()
}
