package jobleader

import (
	"context"

	"github.com/cloudelect/cloudelect/functions/schedule"
)

type slotKey struct{}

func withSlot(ctx context.Context, s schedule.Slot) context.Context {
	return context.WithValue(ctx, slotKey{}, s)
}

// SlotFrom is the slot that a Work runs for, from the context that Run gave it. It is
// settled: for schedule.Every it is the one slot that the store's clock chose, the
// same as all who work on that slot get, so its String is fit for a name or a
// key. false: the Work runs without a Config.Slot.
func SlotFrom(ctx context.Context) (slot schedule.Slot, ok bool) {
	slot, ok = ctx.Value(slotKey{}).(schedule.Slot)
	return slot, ok
}
