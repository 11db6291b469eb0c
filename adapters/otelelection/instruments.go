package otelelection

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/cloudelect/cloudelect/core"
)

// The keys of this package's attributes.
const (
	keyElection  = attribute.Key("election.name")
	keyCandidate = attribute.Key("election.candidate")
	keyOp        = attribute.Key("election.op")
	keyOutcome   = attribute.Key("election.outcome")
	keyProof     = attribute.Key("election.proof")
	keyReason    = attribute.Key("election.end_reason")
	keyToken     = attribute.Key("election.fencing_token")
	keyErrorType = attribute.Key("error.type")
)

// Why reigns end, as election.end_reason has it.
const (
	endExpired  = "expired"
	endLost     = "lost"
	endResigned = "resigned"
	endStopped  = "stopped"
)

// instruments are what is recorded with, and every combination of attributes, made
// once: a renewal allocates none.
type instruments struct {
	leading                           metric.Int64ObservableGauge
	timeLeft, termLength, clockOffset metric.Float64ObservableGauge

	begun, ended, renewals, failures metric.Int64Counter
	unresigned, deletions, missed    metric.Int64Counter

	duration metric.Float64Histogram

	plain     []metric.ObserveOption
	plainAdd  []metric.AddOption
	byProof   map[core.Proof][]metric.AddOption
	byReason  map[string][]metric.AddOption
	byRequest map[request]requestOptions
}

// request is what requests are told apart by.
type request struct {
	op      core.Op
	outcome core.Outcome
}

type requestOptions struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// newInstruments makes them, with common on all that is recorded. It asks for the
// same names each time, and gets the same instruments from one provider.
func newInstruments(m metric.Meter, common []attribute.KeyValue) (*instruments, error) {
	i := &instruments{byProof: map[core.Proof][]metric.AddOption{}, byReason: map[string][]metric.AddOption{},
		byRequest: map[request]requestOptions{}}
	var faults []error
	counter := func(name, unit, says string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(says))
		faults = append(faults, err)
		return c
	}
	seconds := func(name, says string) metric.Float64ObservableGauge {
		g, err := m.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(says))
		faults = append(faults, err)
		return g
	}
	var err error
	i.leading, err = m.Int64ObservableGauge("election.leading", metric.WithUnit("{leader}"),
		metric.WithDescription("1 while this candidate leads, otherwise 0."))
	faults = append(faults, err)
	i.timeLeft = seconds("election.term.time_left", "What is left of the term; 0 when not leading.")
	i.termLength = seconds("election.term.length", "The term of the latest reign.")
	i.clockOffset = seconds("election.clock.offset", "By how much the local wall clock is proved to be ahead of the store's; negative: behind.")
	i.begun = counter("election.reign.begun", "{reign}", "Wins, by what they rested on.")
	i.ended = counter("election.reign.ended", "{reign}", "Ends of reigns, by why.")
	i.renewals = counter("election.renewals", "{renewal}", "Renewals that the store confirmed.")
	i.failures = counter("election.request.failures", "{request}", "Requests to the store that went wrong.")
	i.unresigned = counter("election.resignation.failures", "{resignation}", "Resignations that the store did not confirm.")
	i.deletions = counter("election.entry.deletions", "{deletion}", "Times that an entry that was seen was gone.")
	i.missed = counter("election.events.missed", "{event}", "Events that the hook was too slow for.")
	i.duration, err = m.Float64Histogram("election.request.duration", metric.WithUnit("s"),
		metric.WithDescription("How long requests to the store take until they are answered or given up."),
		metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10))
	faults = append(faults, err)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	i.prepare(common)
	return i, nil
}

// observables are the instruments that are observed together.
func (i *instruments) observables() []metric.Observable {
	return []metric.Observable{i.leading, i.timeLeft, i.termLength, i.clockOffset}
}

// prepare makes the combinations of attributes, and lets the counters that are rare
// and worth an alert begin at 0, so that their first increase shows as one.
func (i *instruments) prepare(common []attribute.KeyValue) {
	with := func(more ...attribute.KeyValue) metric.MeasurementOption {
		all := append(common[:len(common):len(common)], more...)
		return metric.WithAttributeSet(attribute.NewSet(all...))
	}
	plain := with()
	i.plain, i.plainAdd = []metric.ObserveOption{plain}, []metric.AddOption{plain}
	for p := core.ProofNone; p <= core.ProofClock; p++ {
		i.byProof[p] = []metric.AddOption{with(keyProof.String(p.String()))}
	}
	for op := core.OpRead; op <= core.OpResign; op++ {
		for outcome := core.OutcomeUnknown; outcome <= core.OutcomeBadEntry; outcome++ {
			o := with(keyOp.String(op.String()), keyOutcome.String(outcome.String()))
			i.byRequest[request{op, outcome}] = requestOptions{[]metric.AddOption{o}, []metric.RecordOption{o}}
		}
	}
	ctx := context.Background()
	for p := core.ProofVacant; p <= core.ProofClock; p++ {
		i.begun.Add(ctx, 0, i.byProof[p]...)
	}
	for op := core.OpRead; op <= core.OpResign; op++ {
		i.failures.Add(ctx, 0, i.byRequest[request{op, core.OutcomeBroken}].add...)
	}
	i.failures.Add(ctx, 0, i.byRequest[request{core.OpRead, core.OutcomeBadEntry}].add...)
	for _, reason := range []string{endExpired, endLost, endResigned, endStopped} {
		i.byReason[reason] = []metric.AddOption{with(keyReason.String(reason))}
		i.ended.Add(ctx, 0, i.byReason[reason]...)
	}
	for _, c := range []metric.Int64Counter{i.renewals, i.deletions, i.unresigned, i.missed} {
		c.Add(ctx, 0, i.plainAdd...)
	}
}
