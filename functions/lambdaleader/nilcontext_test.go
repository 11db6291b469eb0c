package lambdaleader_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/lambdaleader"
)

// A nil context is refused, and changes nothing.
func TestNilContext(t *testing.T) {
	l, err := lambdaleader.New(core.Config{Decider: memory.NewDecider()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	invoke := lambdaleader.Wrap(l, func(context.Context, *core.Leadership, int) (string, error) { return "done", nil })
	var none context.Context
	if err := l.Shutdown(none); !errors.Is(err, core.ErrInvalidConfig) {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := invoke(none, 1); !errors.Is(err, core.ErrInvalidConfig) {
		t.Errorf("an invocation: %v", err)
	}
	if out, err := invoke(t.Context(), 1); out != "done" || err != nil {
		t.Errorf("an invocation after that: %q, %v", out, err)
	}
}
