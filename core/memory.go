package core

import (
	"fmt"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// Memory is what a process remembers of one election between calls: which
// version it has seen since when, the store's last Date, the highest fencing
// token, and which reigns of its own are over. A worker that is invoked again
// and again in one process keeps one Memory for each election in a variable
// that outlives the calls; what one invocation saw then helps the next. The
// zero Memory has seen nothing. It is safe for concurrent use, and belongs to
// one election and one clock.
type Memory struct {
	mu     sync.Mutex // a leaf: nothing is called while it is held
	keeper *timekeeper
	rec    record
}

func (m *Memory) attach(clock clocks.Clock) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keeper == nil {
		m.keeper = newTimekeeper(clock)
		m.rec = newRecord()
		return nil
	}
	if !sameClock(m.keeper.clock, clock) {
		return fmt.Errorf("%w: this Memory was used with another Clock: its times cannot be compared", ErrInvalidConfig)
	}
	return nil
}

// saw notes an entry, and tells whether one that was seen before is gone.
func (m *Memory) saw(e *entry.RaceEntry, sent, got instant) (vanished bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	vanished = e.Absent() && m.rec.ever && m.rec.sight != sightAbsent
	m.rec.saw(e, sent, got)
	return vanished
}

func (m *Memory) sawBad(e *entry.RaceEntry, sent, got instant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rec.sawBad(e, sent, got)
}

func (m *Memory) end(nonces ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rec.end(nonces...)
}

func (m *Memory) hold(h hold) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rec.hold = h
}

// known returns a copy to decide on. The nonces are shared: they are only
// ever appended to, or deleted under the lock into the same array, so the copy
// gets its own.
func (m *Memory) known() record {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rec
	r.ended = append([]string(nil), r.ended...)
	return r
}

func (m *Memory) sentBy(now instant) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rec.sentBy(now)
}
