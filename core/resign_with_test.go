package core_test

import (
	"context"
	"testing"
	"time"
)

// nil of ResignWith says that the checkpoint is stored. Where the reign was
// resigned before without it, it is not, and cannot be any more.
func TestResignWithAfterResign(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.host("a", nil).win(t)
		resign(t, l)
		if err := l.ResignWith(t.Context(), []byte("done")); err == nil {
			t.Error("ResignWith returned nil and the checkpoint is not stored")
		}
	})
}

// The same where an earlier call, whose outcome was unknown, stored another one;
// with the same checkpoint it is fine.
func TestResignWithAfterAnUnknownOne(t *testing.T) {
	for _, second := range []string{"1", "2"} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			l := h.win(t)
			h.door.then(write, fault{kind: lose})
			h.door.then(read, fault{kind: hang})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := l.ResignWith(ctx, []byte("1")); err == nil {
				t.Fatal("the first one was to fail")
			}
			err := l.ResignWith(t.Context(), []byte(second))
			if stored := string(w.stored(t).Checkpoint) == second; stored != (err == nil) {
				t.Errorf("ResignWith %q = %v, and %q is stored", second, err, w.stored(t).Checkpoint)
			}
		})
	}
}
