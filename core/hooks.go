package core

import (
	"context"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// maxQueued events wait for a slow OnEvent; later ones are counted as missed.
const maxQueued = 1024

// hooks runs the callbacks that must not delay an election: OnEvent (with the
// log) and LeaderChanged. Each has a goroutine of its own, in order, that lives
// only while there is something to deliver. drain waits for them.
type hooks struct {
	ctx context.Context // what LeaderChanged is called with
	s   *settings

	mu       sync.Mutex // never held while a callback runs
	queue    []Event
	missed   int
	missedAt time.Time // of the latest one
	telling,
	changing bool
	// next is the newest change of leader that was not delivered yet.
	next *entry.RaceEntry
	last leaderKey
	idle chan struct{} // closed when nothing is running; nil when nothing ever was
	// skewed: the clocks were told to disagree.
	skewed bool
}

// leaderKey is what LeaderChanged tells apart.
type leaderKey struct {
	id    string
	token int64
	held  bool
}

// newHooks returns nil where there is nobody to call: then nothing is noted.
func newHooks(ctx context.Context, s *settings) *hooks {
	if s.OnEvent == nil && s.Logger == nil && s.LeaderChanged == nil && s.leaderNoted == nil {
		return nil
	}
	return &hooks{ctx: ctx, s: s}
}

// wantsEvents tells whether anybody would see an event.
func (h *hooks) wantsEvents() bool { return h != nil && (h.s.OnEvent != nil || h.s.Logger != nil) }

// tell queues an event. It never blocks.
func (h *hooks) tell(now instant, e Event) {
	if !h.wantsEvents() {
		return
	}
	e.Time, e.LeaderID, e.Entry = now.wall, h.s.LeaderID, e.Entry.Clone()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) >= maxQueued {
		h.missed++
		h.missedAt = e.Time
		return
	}
	e.Missed, h.missed = h.missed, 0
	h.queue = append(h.queue, e)
	if !h.telling {
		h.telling = true
		h.started()
		go h.deliverEvents()
	}
}

func (h *hooks) deliverEvents() {
	done := false
	defer func() {
		if !done { // a hook has ended this goroutine (runtime.Goexit): others must not wait for it
			h.mu.Lock()
			h.telling = false
			h.stopped()
			h.mu.Unlock()
		}
	}()
	for {
		h.mu.Lock()
		if len(h.queue) == 0 && h.missed > 0 {
			// Nothing follows that could carry the count.
			h.queue = append(h.queue, Event{Kind: EventMissed, Time: h.missedAt, LeaderID: h.s.LeaderID, Missed: h.missed})
			h.missed = 0
		}
		if len(h.queue) == 0 {
			h.telling, done = false, true
			h.stopped()
			h.mu.Unlock()
			return
		}
		batch := h.queue
		h.queue = nil
		h.mu.Unlock()
		for _, e := range batch {
			if h.s.OnEvent != nil {
				h.s.OnEvent(e)
			}
			if h.s.Logger != nil {
				logEvent(h.s.Logger, e)
			}
		}
	}
}

// sawLeader calls LeaderChanged if e shows another leader or another reign
// than the entry before it. Nothing stored before anything was seen is no change.
func (h *hooks) sawLeader(now instant, e *entry.RaceEntry) {
	if h == nil {
		return
	}
	key := leaderKey{}
	if !e.Vacant() {
		key = leaderKey{e.LeaderID, e.FencingToken, e.Held}
	}
	h.mu.Lock()
	changed := key != h.last
	h.last = key
	if changed && h.s.leaderNoted != nil {
		h.s.leaderNoted(e)
	}
	if changed && h.s.LeaderChanged != nil {
		clone := e.Clone()
		h.next = &clone
		if !h.changing {
			h.changing = true
			h.started()
			go h.deliverChanges()
		}
	}
	h.mu.Unlock()
	if changed {
		h.tell(now, Event{Kind: EventLeaderChanged, Entry: *e})
	}
}

func (h *hooks) deliverChanges() {
	done := false
	defer func() {
		if !done {
			h.mu.Lock()
			h.changing = false
			h.stopped()
			h.mu.Unlock()
		}
	}()
	for {
		h.mu.Lock()
		e := h.next
		h.next = nil
		if e == nil {
			h.changing, done = false, true
			h.stopped()
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		h.s.LeaderChanged(h.ctx, *e)
	}
}

// sawOffset warns once when the clocks are proved to be too far apart.
func (h *hooks) sawOffset(now instant, ahead time.Duration) {
	if h == nil {
		return
	}
	skewed := ahead.Abs() > h.s.MaxClockSkew
	h.mu.Lock()
	news := skewed && !h.skewed
	h.skewed = skewed
	h.mu.Unlock()
	if news {
		h.tell(now, Event{Kind: EventClockOffset, ClockOffset: ahead})
	}
}

func (h *hooks) started() {
	if h.idle == nil {
		h.idle = make(chan struct{})
	}
}

func (h *hooks) stopped() {
	if !h.telling && !h.changing && h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}

// drain waits until every callback has returned, or give up is closed.
func (h *hooks) drain(giveUp <-chan struct{}) {
	if h == nil {
		return
	}
	for {
		h.mu.Lock()
		idle := h.idle
		h.mu.Unlock()
		if idle == nil {
			return
		}
		select {
		case <-idle:
		case <-giveUp:
			return
		}
	}
}
