package otelelection_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.opentelemetry.io/otel/codes"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/faultdecider"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// slow makes every request of the scene take this long.
func (s *scene) slow(d time.Duration) {
	s.t.Helper()
	plan := faultdecider.Plan{Faults: []faultdecider.Fault{{Kind: faultdecider.Delay, For: d}}}
	slow, err := faultdecider.New(s.store, plan, &faultdecider.Options{Clock: s.cfg.Clock})
	if err != nil {
		s.t.Fatal(err)
	}
	s.cfg.Decider = slow
}

// TestMetricsOfALife: every metric, through a life in which everything happens.
func TestMetricsOfALife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, nil, nil)
		s.store.SetClock(clocks.DefaultClock())
		s.slow(100 * time.Millisecond)
		s.want("before the first event", map[string]float64{"election.leading": 0, "election.term.time_left": 0,
			"election.reign.ended end_reason=expired": 0, "election.renewals": 0, "election.events.missed": 0})
		if got := s.collect(); len(got) != 20 {
			t.Errorf("it begins with %v, want the gauges that mean something and the counters that have alerts", got)
		}

		l := s.win(t.Context())
		s.want("won", map[string]float64{"election.leading": 1, "election.term.length": 10, "election.term.time_left": 9.9,
			"election.reign.begun proof=vacant": 1, "election.renewals": 0, "election.clock.offset": 0,
			"election.request.duration op=read outcome=read": 1, "sum of election.request.duration op=read outcome=read": 0.1,
			"election.request.duration op=acquire outcome=stored": 1})
		time.Sleep(2 * time.Second)
		s.want("before the renewal", map[string]float64{"election.leading": 1, "election.term.time_left": 7.9})
		time.Sleep(2 * time.Second)
		s.want("after the renewal", map[string]float64{"election.leading": 1, "election.renewals": 1, "election.term.time_left": l.TimeLeft().Seconds(),
			"election.request.duration op=renew outcome=stored": 1, "sum of election.request.duration op=renew outcome=stored": 0.1})

		s.store.LoseNext(1)
		time.Sleep(3 * time.Second)
		s.want("after an answer that was lost", map[string]float64{"election.leading": 1, "election.renewals": 2, "election.term.time_left": l.TimeLeft().Seconds(),
			"election.request.duration op=renew outcome=unknown": 1, "election.request.failures op=renew outcome=unknown": 1})

		s.store.FailNext(1<<30, nil)
		time.Sleep(7 * time.Second)
		if left := s.collect()["election.term.time_left"]; left <= 0 || left != l.TimeLeft().Seconds() {
			t.Errorf("%v left while the store is down, want %v", left, l.TimeLeft())
		}
		time.Sleep(4 * time.Second)
		got := s.collect()
		if got["election.request.failures op=renew outcome=unknown"] < 5 || got["election.request.failures op=read outcome=unknown"] < 5 {
			t.Errorf("failures while the store was down: %v", got)
		}
		s.want("store down", map[string]float64{"election.leading": 0, "election.term.time_left": 0, "election.term.length": 10,
			"election.reign.ended end_reason=expired": 1, "election.renewals": 2})
		s.store.FailNext(0, nil)

		s.win(t.Context())
		s.want("won again", map[string]float64{"election.leading": 1, "election.reign.begun proof=reclaimed": 1, "election.reign.begun proof=vacant": 1})
		s.store.Handle().Lead("usurper", term)
		time.Sleep(4 * time.Second)
		s.want("lost", map[string]float64{"election.leading": 0, "election.term.time_left": 0, "election.reign.ended end_reason=lost": 1,
			"election.request.failures op=renew outcome=lost": 1})

		s.store.Handle().Lead("", term)
		l = s.win(t.Context())
		if err := l.Resign(t.Context()); err != nil {
			t.Error(err)
		}
		s.want("resigned", map[string]float64{"election.leading": 0, "election.reign.ended end_reason=resigned": 1,
			"election.request.duration op=resign outcome=stored": 1, "election.resignation.failures": 0})

		ctx, cancel := context.WithCancelCause(t.Context())
		l = s.win(ctx)
		s.want("a third time", map[string]float64{"election.leading": 1, "election.reign.begun proof=vacant": 3})
		cancel(errors.New("enough"))
		s.want("stopped", map[string]float64{"election.leading": 0, "election.reign.ended end_reason=stopped": 1})
		s.store.FailNext(1<<30, nil)
		if err := l.Resign(context.Background()); !errors.Is(err, core.ErrNotResigned) {
			t.Errorf("Resign: %v", err)
		}
		s.want("not resigned", map[string]float64{"election.resignation.failures": 1})
		s.store.FailNext(0, nil)

		s.store.Delete()
		s.store.SetClock(skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: time.Minute}))
		s.win(t.Context())
		s.want("deleted, and the store's clock moved", map[string]float64{"election.entry.deletions": 1, "election.leading": 1})
		if offset := s.collect()["election.clock.offset"]; offset > -58 || offset < -60 {
			t.Errorf("the offset is %v, want just under a minute behind", offset)
		}

		s.store.PlantRaw([]byte("no entry"))
		time.Sleep(4 * time.Second)
		s.want("blocked", map[string]float64{"election.leading": 0, "election.request.failures op=read outcome=bad-entry": 1})

		s.rec.OnEvent(core.Event{Kind: core.EventMissed, Missed: 3})
		s.rec.OnEvent(core.Event{Kind: core.EventRenewed, Missed: 4})
		s.want("too slow", map[string]float64{"election.events.missed": 7})
	})
}

// The gauge shows what core.Leadership says, whatever the clocks are.
func TestTimeLeftIsTheLeaderships(t *testing.T) {
	for name, host := range map[string]*skewclock.Options{
		"right": nil, "ahead": {Offset: time.Hour}, "behind": {Offset: -time.Hour}, "fast": {Rate: 1_000_000},
	} {
		for _, tells := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(t, nil, host)
					if tells {
						s.store.SetClock(clocks.DefaultClock())
					}
					s.slow(200 * time.Millisecond)
					s.cfg.NoClockProof = true
					l := s.win(t.Context())
					for i := range 60 {
						if i == 20 || i == 40 {
							s.store.LoseNext(i / 20)
						}
						time.Sleep(333 * time.Millisecond)
						got, want := s.collect()["election.term.time_left"], l.TimeLeft().Seconds()
						if want <= 0 || got-want > 1e-3 || got-want < -1e-3 {
							t.Fatalf("after %d looks: %v, want %v", i, got, want)
						}
					}
					_ = l.Resign(t.Context())
				})
			})
		}
	}
}

// A leader that another process with the same name has replaced leads no more.
func TestReplacedByANamesake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, nil, nil)
		s.win(t.Context())
		s.store.Handle().Lead("a", term)
		time.Sleep(4 * time.Second)
		s.want("replaced", map[string]float64{"election.leading": 0, "election.reign.ended end_reason=lost": 1})
	})
}

// To come second is no failure; answers that tell no time leave the offset as it was.
func TestWhatIsNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, nil, nil)
		tell := func(op core.Op, outcome core.Outcome, offset time.Duration) {
			s.rec.OnEvent(core.Event{Kind: core.EventRequest, Op: op, Outcome: outcome, ClockOffset: offset, Time: time.Now()})
		}
		tell(core.OpRenew, core.OutcomeStored, -3*time.Second)
		tell(core.OpAcquire, core.OutcomeLost, 0)
		tell(core.OpRenew, core.OutcomeUnknown, 0)
		s.want("no news", map[string]float64{"election.clock.offset": -3,
			"election.request.duration op=acquire outcome=lost": 1, "election.request.failures op=acquire outcome=lost": 0,
			"election.request.failures op=renew outcome=unknown": 1})
		tell(core.OpRead, core.OutcomeRead, 0)
		s.want("the clock was corrected", map[string]float64{"election.clock.offset": 0})
		var failed []string
		for _, span := range s.spans.GetSpans() {
			if span.Status.Code == codes.Error {
				failed = append(failed, span.Name)
			}
		}
		if len(failed) != 1 || failed[0] != "election renew" {
			t.Errorf("spans with the status Error: %q, want the unknown renewal's", failed)
		}
	})
}

// Spans have the times, the outcome and the token of each request, and nothing of others.
func TestSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, nil, nil)
		s.slow(100 * time.Millisecond)
		s.store.Handle().Lead("", term) // so that the first token is 1, and ours 2
		began := time.Now()
		l := s.win(t.Context())
		s.store.LoseNext(1)
		time.Sleep(4 * time.Second)
		if err := l.Resign(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		var story []string
		for i, span := range s.spans.GetSpans() {
			what := span.Name
			for _, a := range span.Attributes {
				what += " " + strings.TrimPrefix(string(a.Key), "election.") + "=" + a.Value.String()
			}
			if span.Status.Description != "" {
				what += " " + span.Status.Code.String()
			}
			story = append(story, what)
			if took := span.EndTime.Sub(span.StartTime); took != 100*time.Millisecond {
				t.Errorf("%s took %v", what, took)
			}
			if i == 0 && !span.StartTime.Equal(began) {
				t.Errorf("the first one began at %v, want %v", span.StartTime, began)
			}
		}
		want := `election read name=nightly candidate=a op=read outcome=read
election acquire name=nightly candidate=a op=acquire outcome=stored fencing_token=2
election renew name=nightly candidate=a op=renew outcome=unknown error.type=unknown fencing_token=2 Error
election read name=nightly candidate=a op=read outcome=read fencing_token=2
election resign name=nightly candidate=a op=resign outcome=stored fencing_token=2`
		if got := strings.Join(story, "\n"); got != want {
			t.Errorf("spans:\n%s\nwant:\n%s", got, want)
		}
	})
}

// News of a reign that comes after that of its end revives nothing.
func TestNewsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, nil, nil)
		at := func(kind core.EventKind, token int64) core.Event {
			return core.Event{Kind: kind, Time: time.Now(), LeaderID: "a", Err: core.ErrLeadershipLost, Proof: core.ProofClock,
				Entry: entry.RaceEntry{LeaderID: "a", FencingToken: token, TermLength: term, TermExpiry: time.Now().Add(term)}}
		}
		for _, step := range []struct {
			e    core.Event
			want float64
		}{
			{at(core.EventElected, 1), 1}, {at(core.EventEnded, 1), 0}, {at(core.EventRenewed, 1), 0},
			{at(core.EventEnded, 2), 0}, {at(core.EventElected, 2), 0},
			{at(core.EventRenewed, 3), 1}, // its win was missed
			{at(core.EventEnded, 3), 0},
		} {
			s.rec.OnEvent(step.e)
			if got := s.collect()["election.leading"]; got != step.want {
				t.Errorf("%v of reign %d: leading is %v", step.e.Kind, step.e.Entry.FencingToken, got)
			}
		}
	})
}
