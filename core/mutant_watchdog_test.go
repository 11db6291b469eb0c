package core_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// The context ends at the term's end by itself, while a renewal and its reading
// back hang. Nobody asks Check before: that would end the reign in its place, and
// work that listens to nothing but its context does not ask.
func TestMutantWatchdogWaitsForNoRenewal(t *testing.T) {
	for _, f := range []fault{{kind: hang}, {kind: stuck, d: time.Hour}, {kind: slowBack, d: time.Hour}} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				l := h.win(t)
				end := w.sentAt(h, l.Entry().Nonce).Add(term)
				h.door.all(write, f)
				h.door.all(read, fault{kind: stuck, d: time.Hour})
				time.Sleep(time.Until(end) - time.Nanosecond)
				if err := l.Context().Err(); err != nil {
					t.Errorf("the context ended before the term: %v", err)
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				if l.Context().Err() == nil {
					t.Error("the context outlives its term")
				}
				wantOver(t, l, core.ErrTermExpired)
				_ = l.Resign(t.Context())
			})
		})
	}
}
