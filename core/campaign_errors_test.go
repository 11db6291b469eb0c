package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Where reads are answered and writes are not (a permission to write that is
// throttled, a 503), the error has to say so: "held" alone sends people looking
// for a leader that does not exist.
func TestCampaignSaysWhatTheStoreSaidToItsWrites(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.WaitAtMost = term
		h.door.all(write, fault{kind: refuse})
		if _, err := h.Campaign(t.Context()); errors.Is(err, core.ErrHeld) || !errors.Is(err, errNet) {
			t.Errorf("WaitAtMost: %v; want what the store said to the last write, and nobody who leads", err)
		}
		h.WaitAtMost = 0
		ctx, cancel := context.WithTimeout(t.Context(), term)
		defer cancel()
		if _, err := h.Campaign(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errNet) {
			t.Errorf("the context ended: %v; want what the store said to the last write", err)
		}
	})
}

// A wait that never ends has no length, and what is no entry is not "open".
func TestCampaignErrorForABadEntryReadsWell(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.PlantRaw([]byte("rubbish"))
		h := w.host("a", nil)
		h.WaitAtMost = time.Second
		_, err := h.Campaign(t.Context())
		if strings.Contains(err.Error(), "2562047h") || strings.Contains(err.Error(), "held open") {
			t.Errorf("%q is for nobody to read", err)
		}
	})
}

// A race that was lost to a reign that is already over: free again, say so.
func TestCampaignLostRaceThatIsFreeAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.door.then(write, fault{kind: stuckLate, d: time.Second})
		w.run(func() {
			time.Sleep(time.Second / 2)
			w.store.Lead("b", term)
			w.store.Lead("", term)
		})
		l, err := h.TryAcquire(t.Context())
		if held := wantHeld(t, l, err); held.Reason == "" || held.RetryAfter != 0 {
			t.Errorf("%q gives no reason", err)
		}
	})
}

// thirdParty is a decider with a FailedAcquisitionErr of its own.
type thirdParty struct{ core.RaceDecider }

type theirLostRace struct{ error }

func (theirLostRace) FailedAcquire() {}

func (d thirdParty) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	tok, err := d.RaceDecider.WriteEntry(ctx, e)
	if errors.Is(err, core.ErrLostRace) {
		err = theirLostRace{errors.New("412 precondition failed")}
	}
	return tok, err
}

// The contract asks for a FailedAcquisitionErr, not for ours: a lost race is a
// HeldError with any of them.
func TestCampaignLostRaceOfAThirdPartysDecider(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.Decider = thirdParty{h.door}
		h.door.then(write, fault{kind: stuckLate, d: time.Second})
		w.run(func() {
			time.Sleep(time.Second / 2)
			w.store.Lead("b", term)
			w.store.Lead("", term)
		})
		l, err := h.TryAcquire(t.Context())
		wantHeld(t, l, err)
	})
}

// A Config may be changed while an election runs, its slices too.
func TestCampaignConfigIsCopied(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.HostPort, h.ConnectionParams = []string{"10.0.0.1:80"}, []byte("params")
		l := h.win(t)
		h.HostPort[0], h.ConnectionParams[0] = "changed", 'X'
		time.Sleep(term)
		if got := w.stored(t); got.HostPort[0] != "10.0.0.1:80" || string(got.ConnectionParams) != "params" {
			t.Errorf("stored: %q, %q", got.HostPort, got.ConnectionParams)
		}
		resign(t, l)
	})
}
