package schedule

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/cloudelect/cloudelect/core"
)

// A refused read is how a duplicate ends, and nothing to warn anybody of. The
// hook is told of a read that was answered; the log gets no line.

func quietHook(hook func(core.Event)) func(core.Event) {
	if hook == nil {
		return nil
	}
	return func(e core.Event) {
		var r *refusal
		if e.Kind == core.EventRequest && e.Op == core.OpRead && errors.As(e.Err, &r) {
			e.Outcome, e.Err = core.OutcomeRead, r.err
		}
		hook(e)
	}
}

func quietLogger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return nil
	}
	return slog.New(quietHandler{l.Handler()})
}

type quietHandler struct{ slog.Handler }

func (h quietHandler) Handle(ctx context.Context, rec slog.Record) error {
	refused := false
	rec.Attrs(func(a slog.Attr) bool {
		refused = a.Key == "error" && strings.HasPrefix(a.Value.String(), refusalText)
		return !refused
	})
	if refused {
		return nil
	}
	return h.Handler.Handle(ctx, rec)
}

func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(attrs)}
}

func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name)}
}
