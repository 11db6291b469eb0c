package otelelection

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/cloudelect/cloudelect/core"
)

// count adds the event to the counters and the histogram.
func (r *Recorder) count(e *core.Event) {
	ctx, i := context.Background(), r.inst
	switch e.Kind {
	case core.EventRequest:
		if o, ok := i.byRequest[request{e.Op, e.Outcome}]; ok {
			i.duration.Record(ctx, e.Latency.Seconds(), o.record...)
			if failed(e) {
				i.failures.Add(ctx, 1, o.add...)
			}
		}
	case core.EventElected:
		i.begun.Add(ctx, 1, i.byProof[e.Proof]...)
	case core.EventRenewed:
		i.renewals.Add(ctx, 1, i.plainAdd...)
	case core.EventEnded:
		i.ended.Add(ctx, 1, i.byReason[reason(e.Err)]...)
	case core.EventNotResigned:
		i.unresigned.Add(ctx, 1, i.plainAdd...)
	case core.EventVanished:
		i.deletions.Add(ctx, 1, i.plainAdd...)
	}
	if e.Missed > 0 {
		i.missed.Add(ctx, int64(e.Missed), i.plainAdd...)
	}
}

// failed tells whether a request went wrong. To come second is no fault, but for a
// leader that somebody has replaced.
func failed(e *core.Event) bool {
	switch e.Outcome {
	case core.OutcomeRead, core.OutcomeStored:
		return false
	case core.OutcomeLost:
		return e.Op != core.OpAcquire
	}
	return true
}

// reason sorts what ended a reign.
func reason(err error) string {
	switch {
	case errors.Is(err, core.ErrTermExpired):
		return endExpired
	case errors.Is(err, core.ErrLeadershipLost):
		return endLost
	case errors.Is(err, core.ErrResigned):
		return endResigned
	}
	return endStopped
}

// span records a request that is over.
func (r *Recorder) span(e *core.Event, token int64) {
	attrs := make([]attribute.KeyValue, len(r.spans), len(r.spans)+5)
	copy(attrs, r.spans)
	attrs = append(attrs, keyCandidate.String(e.LeaderID),
		keyOp.String(e.Op.String()), keyOutcome.String(e.Outcome.String()))
	if failed(e) {
		attrs = append(attrs, keyErrorType.String(e.Outcome.String()))
	}
	if token != 0 {
		attrs = append(attrs, keyToken.Int64(token))
	}
	_, span := r.tracer.Start(context.Background(), "election "+e.Op.String(), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(e.Time.Add(-e.Latency)), trace.WithAttributes(attrs...))
	if failed(e) && span.IsRecording() {
		text := ""
		if e.Err != nil {
			text = e.Err.Error()
		}
		span.SetStatus(codes.Error, text)
	}
	span.End(trace.WithTimestamp(e.Time))
}
