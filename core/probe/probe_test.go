package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/probe"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

func TestGoodStores(t *testing.T) {
	for _, c := range []struct {
		name   string
		store  *store
		within time.Duration
	}{
		{"fast", &store{}, 5 * time.Second},
		{"with bytes to look at", &store{raw: true}, 5 * time.Second},
		{"one write per second, like GCS", &store{interval: time.Second}, 11 * time.Second},
		{"nothing may be deleted", &store{undeletable: true}, 5 * time.Second},
		{"nothing may be deleted, one write per second", &store{undeletable: true, interval: time.Second}, 12 * time.Second},
		{"throttled for a while", &store{change: throttledUntil(4 * time.Second)}, 15 * time.Second},
		{"every third request is throttled", &store{change: everyNth(3)}, 40 * time.Second},
		{"losers are told who won", &store{change: func(r *record, h *handle) { h.OmitCurrent(false) }}, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, took := run(t, c.store, nil)
			if err := probe.Verdict(report); err != nil || !report.Usable {
				t.Fatalf("%v: %+v", err, report)
			}
			if took > c.within {
				t.Errorf("it took %v", took)
			}
			if report.RoundTripMedian != time.Millisecond || report.RoundTripWorst != time.Millisecond {
				t.Errorf("round trip %v, worst %v", report.RoundTripMedian, report.RoundTripWorst)
			}
			for _, ch := range report.Checks {
				if ch.Passed == (c.store.undeletable && ch.Name == probe.CheckDelete) {
					t.Errorf("%+v", ch)
				}
			}
			if n := c.store.kept(); n != len(report.LeftBehind) || n > 7 || (n > 0) != c.store.undeletable {
				t.Errorf("%d records are left, and the report names %q", n, report.LeftBehind)
			}
			t.Logf("took %v, %d records, %d answers, %d unclear; %s, %s", took, len(c.store.records), report.Answers, report.UnclearAnswers,
				check(t, report, probe.CheckRacingCreations).Detail, check(t, report, probe.CheckRacingWrites).Detail)
		})
	}
}

// throttledUntil answers 429 to everything at first.
func throttledUntil(until time.Duration) func(*record, *handle) {
	return func(r *record, h *handle) {
		h.read = func(ctx context.Context) (*entry.RaceEntry, error) {
			if time.Since(r.store.started) < until {
				return nil, errBusy
			}
			return h.Decider.ReadCurrent(ctx)
		}
		h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			if time.Since(r.store.started) < 2*until {
				return nil, errBusy
			}
			return h.Decider.WriteEntry(ctx, e)
		}
	}
}

// everyNth loses the answers of every nth write, and throttles every nth read.
func everyNth(n int) func(*record, *handle) {
	return func(r *record, h *handle) {
		turn := 0
		h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := h.Decider.WriteEntry(ctx, e)
			if turn++; turn%n == 0 {
				return nil, errBusy
			}
			return token, err
		}
		reads := 0
		h.read = func(ctx context.Context) (*entry.RaceEntry, error) {
			if reads++; reads%n == 0 {
				return nil, errBusy
			}
			return h.Decider.ReadCurrent(ctx)
		}
	}
}

// TestClock: the interval is a proof, and holds the true difference.
func TestClock(t *testing.T) {
	for _, ahead := range []time.Duration{0, 1500 * time.Millisecond, -26 * time.Hour} {
		report, _ := run(t, &store{clock: offBy(-ahead)}, nil)
		if report.ClockAheadMin > ahead || report.ClockAheadMax < ahead || report.ClockAheadMax-report.ClockAheadMin > time.Second {
			t.Errorf("%v is not within %v and %v, or that says too little", ahead, report.ClockAheadMin, report.ClockAheadMax)
		}
		if !report.Usable || report.DatedAnswers != report.Answers || report.Answers < 100 {
			t.Errorf("%+v", report)
		}
	}
}

func offBy(d time.Duration) func() clocks.Clock {
	return func() clocks.Clock { return skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: d}) }
}

// TestServersThatDisagree by more than elections tolerate are found out by
// their dates.
func TestServersThatDisagree(t *testing.T) {
	s := &store{change: func(r *record, h *handle) {
		h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			c := e.Clone() // every handle understands every other one's tokens
			if t, ok := e.Token.(*redated); ok {
				c.Token = t.DatedToken
			}
			return h.Decider.WriteEntry(ctx, &c)
		}
		h.read = func(ctx context.Context) (*entry.RaceEntry, error) {
			e, err := h.Decider.ReadCurrent(ctx)
			if err == nil && h.n == 1 {
				e.Token = &redated{e.Token.(core.DatedToken)}
			}
			return e, err
		}
	}}
	report, _ := run(t, s, nil)
	if failed, _ := refusals(report); report.Usable || len(failed) != 1 || failed[0] != probe.CheckOneClock {
		t.Errorf("failed %q: %+v", failed, report)
	}
	if apart := report.ClockAheadMin - report.ClockAheadMax; apart < 3*time.Second || apart > 5*time.Second {
		t.Errorf("apart by %v", apart)
	}
}

// redated is a token of a server that is five seconds behind.
type redated struct{ core.DatedToken }

func (r *redated) StoreDate() time.Time { return r.DatedToken.StoreDate().Add(-5 * time.Second) }

// TestNoDates: elections work without, so the verdict is yes.
func TestNoDates(t *testing.T) {
	report, _ := run(t, &store{clock: func() clocks.Clock { return nil }}, nil)
	c := check(t, report, probe.CheckDated)
	if !report.Usable || c.Passed || !c.Optional || c.Advice == "" || report.DatedAnswers != 0 || report.ClockAheadMin != 0 {
		t.Errorf("%+v", report)
	}
}

// TestInterrupted: no verdict, and nothing is left behind.
func TestInterrupted(t *testing.T) {
	for after := time.Duration(0); after < 140*time.Millisecond; after += 3 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer time.AfterFunc(after, func() { cancel(core.ErrBroken) }).Stop()
			s := &store{}
			report, err := probe.Run(ctx, s.target(), nil)
			if !errors.Is(err, context.Canceled) || errors.Is(err, core.ErrBroken) || report.Usable {
				t.Errorf("%v: %+v, %v", after, report, err)
			}
			if failed, _ := refusals(report); len(failed) > 0 || s.kept() > 0 {
				t.Errorf("%v: failed %q, %d records left", after, failed, s.kept())
			}
		})
	}
}

// TestTooSlow: what is not proved in time is not proved, and the report says so.
func TestTooSlow(t *testing.T) {
	s := &store{change: func(r *record, h *handle) {
		h.read = func(ctx context.Context) (*entry.RaceEntry, error) {
			time.Sleep(3 * time.Second)
			return h.Decider.ReadCurrent(ctx)
		}
	}}
	report, took := run(t, s, nil)
	if failed, open := refusals(report); report.Usable || len(failed) > 0 || len(open) == 0 || took > time.Minute || s.kept() > 0 {
		t.Errorf("failed %q, open %q in %v, %d left: %+v", failed, open, took, s.kept(), report)
	}
	if err := probe.Verdict(report); err == nil || errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "not proved") {
		t.Errorf("verdict: %v", err)
	}
}

func TestTargetsThatAreNone(t *testing.T) {
	for _, target := range []probe.Target{
		{},
		{Scratch: func(string) probe.Record { return probe.Record{} }},
		{Scratch: (&store{}).target().Scratch, MinWriteInterval: -1},
	} {
		if report, err := probe.Run(t.Context(), target, nil); !errors.Is(err, core.ErrInvalidConfig) || report.Usable {
			t.Errorf("%+v, %v", report, err)
		}
	}
}

// TestJSON pins the names that machines read.
func TestJSON(t *testing.T) {
	b, err := json.Marshal(core.ProbeReport{
		Checks: []core.ProbeCheck{{Name: "n", Passed: true}, {Name: "m", Optional: true, Inconclusive: true, Detail: "d", Advice: "a"}},
		Usable: true, RoundTripMedian: 1, RoundTripWorst: 2, Answers: 3, DatedAnswers: 4,
		ClockAheadMin: 5, ClockAheadMax: 6, UnclearAnswers: 7, LeftBehind: []string{"x"},
	})
	const want = `{"checks":[{"name":"n","passed":true},{"name":"m","passed":false,"optional":true,"inconclusive":true,"detail":"d","advice":"a"}],` +
		`"usable":true,"round_trip_median_ns":1,"round_trip_worst_ns":2,"answers":3,"dated_answers":4,` +
		`"clock_ahead_min_ns":5,"clock_ahead_max_ns":6,"unclear_answers":7,"left_behind":["x"]}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}
