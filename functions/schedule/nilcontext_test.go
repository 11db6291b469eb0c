package schedule_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// A nil context is refused before anything is sent, and where the work is done already it
// does not keep the slot from being recorded.
func TestNilContext(t *testing.T) {
	store := memory.NewDecider()
	c := schedule.Config{Election: core.Config{LeaderID: "a", Decider: store}}
	var none context.Context
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), "the context is nil") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := c.Run(none, schedule.Named("x"), func(context.Context, *schedule.Run) error {
		t.Error("the work was done")
		return nil
	})
	refused("Run", err)
	_, _, err = c.Begin(none, schedule.Named("x"))
	refused("Begin", err)
	if _, stored := store.Stored(); stored {
		t.Error("something was written")
	}
	r, _, err := c.Begin(t.Context(), schedule.Named("x"))
	if err != nil {
		t.Fatal(err)
	}
	refused("SaveState", r.SaveState(none, []byte("state")))
	if len(r.State()) > 0 {
		t.Errorf("the state is %q", r.State())
	}
	if res, err := r.Finish(none, nil); res.Outcome != schedule.Ran || err != nil {
		t.Errorf("Finish: %v, %v", res, err)
	}
	again, res, err := c.Begin(t.Context(), schedule.Named("x"))
	if again != nil || res.Outcome != schedule.Done || err != nil {
		t.Errorf("the slot is not recorded: %v, %v", res, err)
	}
}

// Nobody would renew.
func TestManualRenewIsRefused(t *testing.T) {
	c := schedule.Config{Election: core.Config{LeaderID: "a", Decider: memory.NewDecider(), ManualRenew: true}}
	_, _, err := c.Begin(t.Context(), schedule.Named("x"))
	if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), "nobody would renew") {
		t.Errorf("%v", err)
	}
}
