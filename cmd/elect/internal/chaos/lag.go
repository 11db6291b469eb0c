package chaos

import (
	"sync"
	"time"
)

// lagMeter notes how late a goroutine comes to run that wants to run often. What it was
// late by, everything else in the harness may have been late by.
type lagMeter struct {
	mu     sync.Mutex
	delays []delay // of the last minute
	worst  time.Duration
	last   time.Duration // when it ran last
	stop   chan struct{}
	done   chan struct{}
}

// delay is one oversleeping, which ended at that moment.
type delay struct{ at, late time.Duration }

const (
	lagTick   = 10 * time.Millisecond
	lagNoise  = 10 * time.Millisecond // a timer and a scheduler at their usual work
	lagMemory = time.Minute
)

// startLag starts a meter; now is the harness's clock.
func startLag(now func() time.Duration) *lagMeter {
	m := &lagMeter{last: now(), stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(m.done)
		tick := time.NewTicker(lagTick)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.ran(now())
			case <-m.stop:
				return
			}
		}
	}()
	return m
}

// ran notes that it is running now.
func (m *lagMeter) ran(at time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	late := at - m.last - lagTick
	m.last = at
	if late < lagNoise {
		return
	}
	m.worst = max(m.worst, late)
	m.delays = append(m.delays, delay{at, late})
	for len(m.delays) > 0 && at-m.delays[0].at > lagMemory {
		m.delays = m.delays[1:]
	}
}

// between is by how much the harness was late in total from one moment to another. After
// a delay others may run before the meter does: it counts the one that it has not noted
// yet.
func (m *lagMeter) between(from, to time.Duration) (sum time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.delays
	if late := to - m.last - lagTick; late >= lagNoise {
		all = append(all[:len(all):len(all)], delay{to, late})
	}
	for _, d := range all {
		if overlap := min(d.at, to) - max(d.at-d.late, from); overlap > 0 {
			sum += overlap
		}
	}
	return sum
}

func (m *lagMeter) most() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.worst
}

// close ends the meter and waits for its goroutine.
func (m *lagMeter) close() {
	close(m.stop)
	<-m.done
}
