package probe

import (
	"slices"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// meter notes what all requests tell besides their answers.
type meter struct {
	clock clocks.Clock
	start time.Time

	mu             sync.Mutex
	answers, dated int
	unclear        int
	lowest         time.Duration // this host's clock minus the store's: at least,
	highest        time.Duration // and at most
	trips          []time.Duration
}

func newMeter(clock clocks.Clock) *meter { return &meter{clock: clock, start: clock.Now()} }

// local is this host's wall clock at t as if nobody had set it since the start:
// a step in the middle of the probe must not look like a fault of the store.
func (m *meter) local(t time.Time) time.Time { return m.start.Round(0).Add(t.Sub(m.start)) }

// answer notes a request that was sent at sent and brought a token just now.
// The store's clock was in [date, date + 1 s) at some instant in between.
func (m *meter) answer(sent time.Time, token entry.LeaderToken) {
	got := m.clock.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers++
	dated, ok := token.(core.DatedToken)
	if !ok || dated.StoreDate().IsZero() {
		return
	}
	date := dated.StoreDate()
	low, high := m.local(sent).Sub(date.Add(time.Second)), m.local(got).Sub(date)
	if m.dated++; m.dated == 1 {
		m.lowest, m.highest = low, high
	}
	m.lowest, m.highest = max(m.lowest, low), min(m.highest, high)
}

// again notes a request without a clear answer.
func (m *meter) again() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unclear++
}

func (m *meter) trip(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trips = append(m.trips, d)
}

// into writes the figures into the report.
func (m *meter) into(r *core.ProbeReport) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.Answers, r.DatedAnswers, r.UnclearAnswers = m.answers, m.dated, m.unclear
	r.ClockAheadMin, r.ClockAheadMax = m.lowest, m.highest
	if n := len(m.trips); n > 0 {
		sorted := slices.Sorted(slices.Values(m.trips))
		r.RoundTripMedian = (sorted[(n-1)/2] + sorted[n/2]) / 2
		r.RoundTripWorst = sorted[n-1]
	}
}
