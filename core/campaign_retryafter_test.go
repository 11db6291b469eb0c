package core_test

import (
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// A proof by the clock needs a Date that is past as well, and Dates are cut to
// whole seconds: the first one that shows it comes up to a second later.
func TestCampaignRetryAfterWithADate(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.tellTime(0)
		time.Sleep(100 * time.Millisecond)
		w.store.Plant(entry.RaceEntry{LeaderID: "b", TermLength: 10 * term, Nonce: "n", FencingToken: 5,
			TermExpiry: time.Now().Add(2400 * time.Millisecond)})
		h := w.host("a", nil)
		h.Memory = new(core.Memory)
		l, err := h.TryAcquire(t.Context())
		held := wantHeld(t, l, err)
		time.Sleep(held.RetryAfter)
		l, err = h.TryAcquire(t.Context())
		if err != nil {
			t.Fatalf("after RetryAfter %v: %v", held.RetryAfter, err)
		}
		resign(t, l)
	})
}

// When this process's own MinHold is over, the Held entry may still stand.
func TestCampaignRetryAfterMinHold(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.Memory, h.MinHold, h.NoClockProof = new(core.Memory), time.Minute, true
		l := h.win(t)
		time.Sleep(term)
		h.door.then(write, fault{kind: slowBack, d: time.Second})
		resign(t, l)
		l, err := h.TryAcquire(t.Context())
		held := wantHeld(t, l, err)
		time.Sleep(held.RetryAfter)
		l, err = h.TryAcquire(t.Context())
		if err != nil {
			t.Fatalf("after RetryAfter %v: %v", held.RetryAfter, err)
		}
		resign(t, l)
	})
}
