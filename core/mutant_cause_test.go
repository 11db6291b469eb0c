package core_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// echo is a decider whose writes end with their context, and whose error then Is
// that context's cause, as one has it that returns context.Cause(ctx).
type echo struct {
	core.RaceDecider
	cancel context.CancelCauseFunc // nil: the decider behind it answers
	cause  error
}

func (d *echo) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if d.cancel == nil {
		return d.RaceDecider.WriteEntry(ctx, e)
	}
	d.cancel(d.cause)
	return nil, context.Cause(ctx)
}

// What a caller cancels with is not what the store said, although the decider
// hands it out as its error. A campaign does not end with it, and a reign neither.
// Which of the two comes first, the end of the context or the error, is chance:
// hence the repetitions.
func TestMutantACauseIsNoAnswer(t *testing.T) {
	for _, cause := range causes() {
		t.Run(cause.Error(), func(t *testing.T) {
			for range 50 {
				bubble(t, func(t *testing.T, w *world) {
					h := w.host("a", nil)
					d := &echo{RaceDecider: h.door, cause: cause}
					h.Decider = d

					var ctx context.Context
					ctx, d.cancel = context.WithCancelCause(t.Context())
					l, err := h.Campaign(ctx)
					if l != nil || !errors.Is(err, context.Canceled) || errors.Is(err, cause) {
						t.Fatalf("Campaign = %v, %v; want that its context has ended", l, err)
					}

					d.cancel = nil
					l = h.lead(t)
					ctx, d.cancel = context.WithCancelCause(t.Context())
					if err := l.Renew(ctx); err == nil || errors.Is(err, cause) {
						t.Fatalf("Renew = %v; want that its context has ended", err)
					}
					d.cancel = nil
					wantLeading(t, l)
					resign(t, l)
				})
			}
		})
	}
}
