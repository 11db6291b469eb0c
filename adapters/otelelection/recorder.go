package otelelection

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vimeo/go-clocks"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/cloudelect/cloudelect/adapters/internal/book"
	"github.com/cloudelect/cloudelect/core"
)

// scope is what the SDK knows this package as.
const scope = "github.com/cloudelect/cloudelect/adapters/otelelection"

// Options say whose events a Recorder gets, and where they go.
type Options struct {
	// Election names the election, like "nightly". It is needed, and should be the
	// same on all candidates.
	Election string
	// Candidate becomes the attribute election.candidate of every metric, where the
	// backend does not tell processes apart by itself; it has to where two
	// candidates for one election share a process. A LeaderID that is new with every
	// start makes new time series with every start: then leave it empty. Spans have
	// the LeaderID anyway.
	Candidate string
	// Attributes are added to all metrics and spans. Keys beginning with
	// "election." and "error." are not free.
	Attributes []attribute.KeyValue
	// MeterProvider and TracerProvider make what is recorded with; nil: the global
	// ones of go.opentelemetry.io/otel, also if they are set later.
	MeterProvider  metric.MeterProvider
	TracerProvider trace.TracerProvider
	// Clock is the Clock of the Config; nil: the system's.
	Clock clocks.Clock
}

// Recorder records the events of one candidate for one election. It is safe for
// concurrent use; events have to come in order, as Config.OnEvent gets them. Get
// one from New; the nil Recorder and the zero one record nothing.
type Recorder struct {
	clock  clocks.Clock
	tracer trace.Tracer // nil: no spans
	inst   *instruments
	common []attribute.KeyValue // of all metrics
	spans  []attribute.KeyValue // of all spans

	registration metric.Registration

	mu       sync.Mutex // not held while anything is recorded
	book     book.Book
	offset   time.Duration
	answered bool // the store has answered, so offset means something
}

// New returns a Recorder. An error Is core.ErrInvalidConfig, or is that of a
// MeterProvider that refuses an instrument. Close it when the election is over.
func New(opts *Options) (*Recorder, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.Clock == nil {
		o.Clock = clocks.DefaultClock()
	}
	r := &Recorder{clock: o.Clock}
	if _, off := o.TracerProvider.(noop.TracerProvider); !off {
		r.tracer = o.TracerProvider.Tracer(scope)
	}
	r.spans = append([]attribute.KeyValue{keyElection.String(o.Election)}, o.Attributes...)
	r.common = r.spans[:len(r.spans):len(r.spans)]
	if o.Candidate != "" {
		r.common = append(r.common, keyCandidate.String(o.Candidate))
	}
	meter := o.MeterProvider.Meter(scope)
	var err error
	if r.inst, err = newInstruments(meter, r.common); err != nil {
		return nil, fmt.Errorf("otelelection: the MeterProvider refuses an instrument: %w", err)
	}
	r.registration, err = meter.RegisterCallback(r.observe, r.inst.observables()...)
	if err != nil {
		return nil, fmt.Errorf("otelelection: the MeterProvider refuses the callback of the gauges: %w", err)
	}
	return r, nil
}

// validate finds every fault.
func (o *Options) validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("otelelection: %w: "+format, append([]any{core.ErrInvalidConfig}, args...)...))
	}
	if o.Election == "" {
		fault("Options.Election is empty: name the election, the same on all candidates")
	}
	if !utf8.ValidString(o.Election) || !utf8.ValidString(o.Candidate) {
		fault("Options.Election %q and Candidate %q have to be UTF-8, which exporters demand", o.Election, o.Candidate)
	}
	seen := map[attribute.Key]bool{}
	for _, a := range o.Attributes {
		switch {
		case !a.Valid():
			fault("the attribute %q has no key or no value", a.Key)
		case strings.HasPrefix(string(a.Key), "election.") || strings.HasPrefix(string(a.Key), "error."):
			fault("the attribute %q has a key of this package's own", a.Key)
		case seen[a.Key]:
			fault("the attribute %q is there twice", a.Key)
		}
		seen[a.Key] = true
	}
	return errors.Join(faults...)
}

// Close ends the reporting of the gauges, which would go on for as long as the
// MeterProvider lives. What OnEvent still counts, is counted. It may be called twice.
func (r *Recorder) Close() error {
	if r == nil || r.registration == nil {
		return nil
	}
	if err := r.registration.Unregister(); err != nil {
		return fmt.Errorf("otelelection: end the reporting of the gauges: %w", err)
	}
	return nil
}

// OnEvent records an event: give it to core.Config.OnEvent, or call it from there.
// It waits for nothing but what the SDK waits for, whose exporters should batch.
func (r *Recorder) OnEvent(e core.Event) {
	if r == nil || r.inst == nil {
		return
	}
	token := r.note(&e)
	r.count(&e)
	if e.Kind == core.EventRequest && r.tracer != nil {
		r.span(&e, token)
	}
}

// note brings what the gauges show up to date, and returns the latest fencing token
// of this candidate, 0 before the first.
func (r *Recorder) note(e *core.Event) int64 {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.book.Note(e, now)
	// Only these answers are sure to carry the store's time, where it tells any.
	if e.Kind == core.EventRequest && (e.Outcome == core.OutcomeRead || e.Outcome == core.OutcomeStored) {
		r.offset, r.answered = e.ClockOffset, true
	}
	return r.book.Token()
}

// observe reports the gauges as they are now.
func (r *Recorder) observe(_ context.Context, to metric.Observer) error {
	now := r.clock.Now()
	r.mu.Lock()
	left, term := r.book.Left(now), r.book.Term()
	offset, answered := r.offset, r.answered
	r.mu.Unlock()
	leading := int64(0)
	if left > 0 {
		leading = 1
	}
	i := r.inst
	to.ObserveInt64(i.leading, leading, i.plain...)
	to.ObserveFloat64(i.timeLeft, left.Seconds(), i.plain...)
	if term > 0 {
		to.ObserveFloat64(i.termLength, term.Seconds(), i.plain...)
	}
	if answered {
		to.ObserveFloat64(i.clockOffset, offset.Seconds(), i.plain...)
	}
	return nil
}
