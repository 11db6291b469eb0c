package core_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// When WaitAtMost is over the error says what is known: a leader only where one was
// seen, else what the store said. Programs choose their exit codes by it.
func TestCampaignGiveUpTellsALeaderFromAStoreThatFails(t *testing.T) {
	leads := func(t *testing.T, w *world, h *host) { w.store.Lead("b", 10*time.Minute) }
	for _, c := range []struct {
		name  string
		setup func(t *testing.T, w *world, h *host)
		held  string // what holds it; "": nothing
		is    error
		says  string
	}{
		{"no read was ever answered", func(t *testing.T, w *world, h *host) {
			h.door.all(read, fault{kind: refuse})
		}, "", errNet, "did not answer within 10s"},
		{"every read hangs", func(t *testing.T, w *world, h *host) {
			h.door.all(read, fault{kind: stuck, d: time.Hour})
		}, "", nil, "did not answer within 10s"},
		{"every read fails slowly, and the last has no time to", func(t *testing.T, w *world, h *host) {
			h.door.all(read, fault{kind: stuck, d: 1900 * time.Millisecond})
		}, "", errNet, "did not answer within 10s"},
		{"only an earlier call was answered", func(t *testing.T, w *world, h *host) {
			leads(t, w, h)
			h.Memory = new(core.Memory)
			_, err := h.TryAcquire(t.Context())
			wantHeld(t, nil, err)
			h.door.all(read, fault{kind: refuse})
		}, "", errNet, "did not answer within 10s"},
		{"nobody leads, and no write is taken", func(t *testing.T, w *world, h *host) {
			w.store.Lead("", term)
			h.door.all(write, fault{kind: refuse})
		}, "", errNet, "the election is free (vacant)"},
		{"it was free, and then nothing is answered", func(t *testing.T, w *world, h *host) {
			h.door.then(write, fault{kind: refuse})
			h.door.then(read, fault{})
			h.door.all(read, fault{kind: refuse})
		}, "", errNet, "the election is free (vacant)"},
		{"somebody leads", leads, "b", nil, "a proof can hold in"},
		{"somebody leads, and then nothing is answered", func(t *testing.T, w *world, h *host) {
			leads(t, w, h)
			h.door.then(read, fault{})
			h.door.all(read, fault{kind: refuse})
		}, "b", errNet, "the store's last answer"},
		{"no entry", func(t *testing.T, w *world, h *host) {
			w.store.PlantRaw([]byte("rubbish"))
		}, "rubbish", core.ErrBadEntry, "an operator"},
		{"no entry, and then nothing is answered", func(t *testing.T, w *world, h *host) {
			w.store.PlantRaw([]byte("rubbish"))
			h.door.then(read, fault{})
			h.door.all(read, fault{kind: refuse})
		}, "rubbish", core.ErrBadEntry, errNet.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				c.setup(t, w, h)
				h.WaitAtMost = term
				l, err := h.Campaign(t.Context())
				if l != nil || err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("%v, want %v and %q", err, c.is, c.says)
				}
				var held *core.HeldError
				switch {
				case errors.As(err, &held) != (c.held != "") || errors.Is(err, core.ErrHeld) != (c.held != ""):
					t.Errorf("%v; it is held by %q", err, c.held)
				case held != nil && c.is == core.ErrBadEntry:
				case held != nil && (held.Current.LeaderID != c.held || held.RetryAfter > time.Hour):
					t.Errorf("held by %q for %v", held.Current.LeaderID, held.RetryAfter)
				}
			})
		})
	}
}

// At the end of WaitAtMost nothing is asked any more: no store could answer in time,
// and the log would say of a healthy one that it does not.
func TestCampaignAsksNothingWhenItsTimeIsOver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("b", 10*time.Minute)
		h := w.host("a", nil)
		h.WaitAtMost = term
		begin := time.Now()
		_, err := h.Campaign(t.Context())
		wantHeld(t, nil, err)
		if took := time.Since(begin); took < term {
			t.Errorf("gave up after %v", took)
		}
		for _, c := range h.door.log() {
			if c.err != nil || c.at.Sub(begin) >= term-time.Millisecond {
				t.Errorf("a request %v after the beginning: %v", c.at.Sub(begin), c.err)
			}
		}
	})
}

// A vacancy that begins between the last poll and the end of WaitAtMost is seen.
func TestCampaignLooksOnceMoreBeforeItsTimeIsOver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("b", 10*time.Minute)
		h := w.host("a", nil)
		h.WaitAtMost, h.PollInterval = term, term
		time.AfterFunc(term-time.Second, func() { w.store.Lead("", term) })
		l, err := h.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Resign(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
