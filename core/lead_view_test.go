package core_test

import (
	"context"
	"testing"
	"testing/synctest"
)

// A view that says "still to come" is used as a Check: it must end with the
// context, whatever ended that.
func TestHoldingViewEndsWithTheParent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		l := w.host("a", nil).winIn(t, ctx)
		cancel()
		synctest.Wait()
		if l.Context().Err() == nil {
			t.Error("the context lives")
		}
		if l.Expiration().ValueInFuture() {
			t.Error("the context has ended and the TimeView shows the future")
		}
		resign(t, l)
	})
}
