package dynamodecider

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// TestCampaign: two processes elect over one table, one after the other, and pay at
// the wire what the design says.
func TestCampaign(t *testing.T) {
	s := newEmulator(t)
	way := s.way(t, nil)
	candidate := func(id string) core.Config {
		return core.Config{Decider: NewDecider(s.Client(wrap(way)), testTable, testName, nil), LeaderID: id,
			TermLength: time.Minute, PollInterval: 20 * time.Millisecond, ManualRenew: true}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	spent := func(what string, reads, writes int) {
		t.Helper()
		for _, r := range way.Requests() {
			if r.Write {
				writes--
			} else {
				reads--
			}
		}
		if reads != 0 || writes != 0 {
			t.Errorf("%s: %d reads and %d writes are missing: %v", what, reads, writes, way.Requests())
		}
		way.Reset()
	}

	first, err := candidate("worker-1").Campaign(ctx)
	must(t, err)
	spent("taking a free election", 1, 1)
	must(t, first.Renew(ctx))
	spent("a renewal", 0, 1)

	_, err = candidate("worker-2").TryAcquire(ctx)
	var held *core.HeldError
	if !errors.As(err, &held) || held.Current.LeaderID != "worker-1" {
		t.Fatal(err)
	}
	spent("finding it held", 1, 0)

	must(t, first.ResignWith(ctx, []byte("slot 7")))
	spent("resigning", 0, 1)
	second, err := candidate("worker-2").Campaign(ctx)
	must(t, err)
	spent("taking a vacant election", 1, 1)
	if second.FencingToken() <= first.FencingToken() || string(second.Checkpoint()) != "slot 7" {
		t.Errorf("token %d after %d, checkpoint %q", second.FencingToken(), first.FencingToken(), second.Checkpoint())
	}

	// The answer of a renewal is lost: it is found again by its nonce.
	must(t, way.Inject(netfault.Fault{Kind: netfault.LoseAnswer, WritesOnly: true, Count: 1}))
	if err := second.Renew(ctx); err != nil {
		must(t, second.Renew(ctx))
	}
	must(t, second.Check())
	must(t, second.Resign(ctx))
}

// TestLosingARace: the winner's item comes with the refusal, so no read is needed; one
// is where the store leaves the item out.
func TestLosingARace(t *testing.T) {
	for name, plain := range map[string]bool{"with the item": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			s := newEmulator(t)
			s.plain = plain
			way := s.way(t, nil)
			d := NewDecider(s.Client(wrap(way)), testTable, testName, nil)
			// Between the loser's read and its write somebody else wins.
			between := &decide{d, func() {
				e := sampleEntry(absentToken(time.Time{}))
				e.TermLength, e.TermExpiry = time.Hour, time.Now().Add(time.Hour)
				if _, err := d.WriteEntry(context.Background(), e); err != nil {
					t.Error(err)
				}
				way.Reset()
			}}
			_, err := core.Config{Decider: between, LeaderID: "loser"}.TryAcquire(t.Context())
			var held *core.HeldError
			if !errors.As(err, &held) || held.Current.LeaderID != "worker-1" {
				t.Fatal(err)
			}
			seen := way.Requests()
			if len(seen) == 0 || !seen[0].Write || len(seen) != 1 && !plain || plain && (len(seen) != 2 || seen[1].Write) {
				t.Errorf("requests %v", seen)
			}
		})
	}
}

// decide does something after the first read.
type decide struct {
	core.RaceDecider
	then func()
}

func (d *decide) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	e, err := d.RaceDecider.ReadCurrent(ctx)
	if then := d.then; then != nil {
		d.then = nil
		then()
	}
	return e, err
}

func wrap(over http.RoundTripper) *http.Client { return &http.Client{Transport: over} }
