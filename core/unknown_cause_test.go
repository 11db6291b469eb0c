package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// causes are errors that people cancel contexts with, when one election depends
// on another one.
func causes() []error {
	return []error{
		fmt.Errorf("another election: %w", core.ErrBroken),
		&core.LostRaceError{Current: &entry.RaceEntry{LeaderID: "x", ElectionNumber: 99, FencingToken: 99, Nonce: "x", TermLength: term}},
		&core.LostRaceError{},
		core.ErrBadEntry,
	}
}

// The cause of a context is no answer of the store. Taken for one, an unknown
// win is left behind, a resignation that was never sent is confirmed, a living
// reign ends, and a Memory learns the entry of another election.
func TestUnknownWinWhoseContextEndsWithACause(t *testing.T) {
	for _, cause := range causes() {
		t.Run(cause.Error(), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				h.Memory = new(core.Memory)
				h.door.then(write, fault{kind: hangAfter})
				ctx, cancel := context.WithCancelCause(t.Context())
				w.run(func() { time.Sleep(time.Second); cancel(cause) })
				if l, err := h.Campaign(ctx); l != nil || err == nil {
					t.Fatalf("Campaign = %v, %v", l, err)
				}
				if got := w.stored(t); !got.Vacant() {
					t.Errorf("stored: leader %q: an unknown win was left behind", got.LeaderID)
				}
				l, err := h.TryAcquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if l.FencingToken() != 2 {
					t.Errorf("token %d: the memory has learned another election's entry", l.FencingToken())
				}
				resign(t, l)
			})
		})
	}
}

func TestUnknownResignationWhoseContextEndsWithACause(t *testing.T) {
	for _, cause := range causes() {
		t.Run(cause.Error(), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				l := h.win(t)
				h.door.then(write, fault{kind: hang})
				ctx, cancel := context.WithCancelCause(t.Context())
				w.run(func() { time.Sleep(time.Second); cancel(cause) })
				if err := l.Resign(ctx); !errors.Is(err, core.ErrNotResigned) {
					t.Errorf("Resign = %v, want ErrNotResigned", err)
				}
				resign(t, l)
				if got := w.stored(t); !got.Vacant() {
					t.Errorf("Resign = nil, and stored: leader %q", got.LeaderID)
				}
			})
		})
	}
}

func TestUnknownRenewalWhoseContextEndsWithACause(t *testing.T) {
	for _, cause := range causes() {
		t.Run(cause.Error(), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				l := h.win(t)
				h.door.then(write, fault{kind: hang})
				ctx, cancel := context.WithCancelCause(t.Context())
				w.run(func() { time.Sleep(time.Second); cancel(cause) })
				if err := l.Renew(ctx); err == nil {
					t.Error("Renew = nil")
				}
				wantLeading(t, l)
				time.Sleep(3 * term)
				wantLeading(t, l)
				resign(t, l)
			})
		})
	}
}
