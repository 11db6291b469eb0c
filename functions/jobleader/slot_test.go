package jobleader_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/jobleader"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// The work is told which slot it runs for: the settled one, not "every hour".
func TestSlotFromContext(t *testing.T) {
	for _, c := range []struct {
		name string
		slot schedule.Slot
		want string
	}{
		{"no slot", schedule.Slot{}, ""},
		{"a name", schedule.Named("exec-7"), "exec-7"},
		{"a time in another zone", schedule.At(time.Date(2000, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))), "2000-01-01T00:00:00Z"},
		{"a period", schedule.Every(time.Hour, nil), "2000-01-01T00:00:00Z"}, // when bubbles begin
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *memory.Decider) {
				k := newTask(store, "a")
				k.Slot = c.slot
				got, ok := schedule.Slot{}, false
				k.start(func(ctx context.Context, _ *core.Leadership) error {
					got, ok = jobleader.SlotFrom(ctx)
					return nil
				}).want(t, 0, "")
				if ok != (c.want != "") || ok && got.String() != c.want {
					t.Errorf("SlotFrom: %v, %v; want %q", got, ok, c.want)
				}
			})
		})
	}
	if s, ok := jobleader.SlotFrom(context.Background()); ok {
		t.Errorf("a context of nobody's has the slot %v", s)
	}
}
