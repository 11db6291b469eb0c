package s3decider

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// counts are the reads and writes that a step has cost.
func counts(way *netfault.Transport) (reads, writes int) {
	for _, r := range way.Requests() {
		if r.Write {
			writes++
		} else {
			reads++
		}
	}
	way.Reset()
	return reads, writes
}

// TestCampaign runs an election through its life and counts requests at the wire:
// the table of the design is a promise about the bill.
func TestCampaign(t *testing.T) {
	e := newStore(t)
	way := newWay(t, nil)
	ctx := context.Background()
	config := func(id string) core.Config {
		return core.Config{
			LeaderID: id, TermLength: time.Hour, ManualRenew: true, // nothing happens by itself
			Decider: NewDecider(newTestClient(t, e.URL(), way), testBucket, testKey, nil),
		}
	}
	cost := func(what string, reads, writes int) {
		t.Helper()
		if r, w := counts(way); r != reads || w != writes {
			t.Errorf("%s costs %d reads and %d writes, want %d and %d", what, r, w, reads, writes)
		}
	}
	one, err := config("one").Campaign(ctx)
	must(t, err)
	cost("to take a free election", 1, 1)
	must(t, one.Renew(ctx))
	must(t, one.Renew(ctx))
	cost("to renew twice", 0, 2)
	var held *core.HeldError
	if _, err := config("two").TryAcquire(ctx); !errors.As(err, &held) || held.Current.LeaderID != "one" {
		t.Errorf("while one leads: %v", err)
	}
	cost("to find it held", 1, 0)
	must(t, one.ResignWith(ctx, []byte("slot 7")))
	cost("to resign", 0, 1)
	two, err := config("two").Campaign(ctx)
	must(t, err)
	cost("to take a resigned election", 1, 1)
	if two.FencingToken() <= one.FencingToken() || string(two.Checkpoint()) != "slot 7" {
		t.Errorf("tokens %d, %d; checkpoint %q", one.FencingToken(), two.FencingToken(), two.Checkpoint())
	}
	must(t, two.Resign(ctx))
	counts(way)
	unseen := NewDecider(newTestClient(t, e.URL(), nil), testBucket, testKey, nil)
	three := config("three")
	three.Decider = &overtaken{three.Decider, sync.OnceFunc(func() {
		fast := config("fast")
		fast.Decider = unseen
		two, err = fast.TryAcquire(ctx)
		must(t, err)
	})}
	if _, err := three.TryAcquire(ctx); !errors.As(err, &held) {
		t.Errorf("a lost race: %v", err)
	}
	cost("to lose a race", 2, 1)
	must(t, e.Delete(testBucket, testKey))
	if err := two.Renew(ctx); !errors.Is(err, core.ErrLeadershipLost) {
		t.Errorf("a renewal after the object was deleted: %v", err)
	}
}

// overtaken lets somebody else write between a read and the write that follows.
type overtaken struct {
	core.RaceDecider
	between func()
}

func (o *overtaken) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	e, err := o.RaceDecider.ReadCurrent(ctx)
	o.between()
	return e, err
}

// TestWrongClock: a host whose clock is hours off campaigns and leads. The first
// signature is refused, which is unknown and not denied, and tells the SDK the time.
func TestWrongClock(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"slow": 3 * time.Hour, "fast": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, base := newStore(t), &http.Transport{}
			gate := netfault.NewAWSGate(base)
			t.Cleanup(gate.CloseIdleConnections)
			gate.SetClock(ahead)
			way, err := netfault.NewTransport(gate, nil)
			must(t, err)
			t.Cleanup(way.Close)

			d := NewDecider(newTestClient(t, e.URL(), way, onlyOnce), testBucket, testKey, nil)
			got, err := ask(d, create)
			checkOutcome(t, create, unknown, got, err)

			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			fresh := func() *Decider {
				return NewDecider(newTestClient(t, e.URL(), way, onlyOnce), testBucket, testKey, nil)
			}
			l, err := core.Config{LeaderID: "lost in time", TermLength: time.Hour, PollInterval: time.Millisecond, ManualRenew: true, Decider: fresh()}.Campaign(ctx)
			must(t, err)
			must(t, l.Renew(ctx))
			must(t, l.Resign(ctx))
			refused := 0
			for _, r := range way.Requests() {
				if r.ServerStatus == http.StatusForbidden {
					refused++
				}
			}
			if refused != 2 { // the first request of each client
				t.Errorf("%d requests were refused: %v", refused, way.Requests())
			}
		})
	}
}

// TestExpiredCredentials are unknown, and nothing when they are valid again.
func TestExpiredCredentials(t *testing.T) {
	e, base := newStore(t), &http.Transport{}
	gate := netfault.NewAWSGate(base)
	t.Cleanup(gate.CloseIdleConnections)
	d := NewDecider(newTestClient(t, e.URL(), gate, func(o *s3.Options) { o.RetryMaxAttempts = 1 }), testBucket, testKey, nil)
	gate.Expire("KEY")
	for _, op := range []operation{read, create, overwrite} {
		got, err := ask(d, op)
		checkOutcome(t, op, unknown, got, err)
	}
	gate.Restore("KEY")
	if _, err := ask(d, create); err != nil {
		t.Error(err)
	}
}
