package lambdaleader

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/cloudelect/cloudelect/core"
)

// Shutdown ends what this Leader does: later invocations fail with ErrShutdown,
// the context of a running handler ends with that cause, and when it has returned
// its leadership, or the one that was kept, is resigned. Shutdown waits for that
// until ctx ends. A handler that is still at work then keeps its leadership: the
// next leader has to wait for the term's end, which the error says. A nil ctx changes
// nothing, and the error Is core.ErrInvalidConfig.
func (l *Leader) Shutdown(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: lambdaleader: Shutdown was given a nil context: pass context.Background()", core.ErrInvalidConfig)
	}
	l.close(ErrShutdown)
	select {
	case l.slot <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("lambdaleader: shutdown: a handler is still at work, the next leader has to wait for the end of its term: %w", context.Cause(ctx))
	}
	defer func() { <-l.slot }()
	t := l.kept
	if t == nil {
		return nil
	}
	l.kept = nil
	defer t.abandon(core.ErrResigned)
	if err := t.Resign(ctx); err != nil {
		return fmt.Errorf("lambdaleader: shutdown: %w", err)
	}
	return nil
}

// termTime is what a sandbox gets between SIGTERM and SIGKILL, without what it
// takes to notice: 500 ms where only an internal extension is registered, 300 ms
// beside external ones (AWS Lambda Developer Guide, "Lambda execution environment
// lifecycle", Shutdown phase).
const termTime = 400 * time.Millisecond

// SIGTERM returns the option for lambda.StartWithOptions that resigns when Lambda
// ends the sandbox. It is the runtime's own WithEnableSIGTERM, which registers an
// internal extension, because Lambda sends no SIGTERM without one. There are
// 300 to 500 ms; a resignation that does not get through in that time costs the
// next leader the rest of the term. Without Keep there is rarely anything to resign.
func (l *Leader) SIGTERM() lambda.Option {
	return lambda.WithEnableSIGTERM(l.terminate)
}

func (l *Leader) terminate() {
	ctx, cancel := l.clock.ContextWithTimeout(context.Background(), termTime)
	defer cancel()
	if err := l.Shutdown(ctx); err != nil {
		l.log(slog.LevelWarn, "SIGTERM: not resigned", slog.String("error", err.Error()))
	}
}
