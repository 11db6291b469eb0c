package s3decider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
	"github.com/cloudelect/cloudelect/emulators/netfault"
	emulator "github.com/cloudelect/cloudelect/emulators/s3"
)

// badWeather is what a network and a busy store do, often enough that hardly a
// case of the suite gets by without it.
func badWeather(seed uint64) *netfault.Schedule {
	status := func(p float64, kind netfault.Kind, code int) netfault.Chance {
		return netfault.Chance{P: p, Fault: netfault.Fault{Kind: kind, Status: code}}
	}
	return &netfault.Schedule{Seed: seed, Chances: []netfault.Chance{
		{P: 0.2, Fault: netfault.Fault{Kind: netfault.Delay, For: 2 * time.Millisecond}},
		{P: 0.2, Fault: netfault.Fault{Kind: netfault.DelayAfter, For: 2 * time.Millisecond}},
		status(0.06, netfault.Status, 409),
		status(0.04, netfault.StatusAfter, 409),
		status(0.06, netfault.Status, 503),
		status(0.04, netfault.StatusAfter, 503),
		{P: 0.05, Fault: netfault.Fault{Kind: netfault.Reset}},
		{P: 0.05, Fault: netfault.Fault{Kind: netfault.LoseAnswer}},
	}}
}

// TestConformance runs the suite on the emulator, in good weather and in bad.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name     string
		schedule *netfault.Schedule
	}{
		{"direct", nil},
		{"bad weather, seed 4", badWeather(4)},
		{"bad weather, seed 5", badWeather(5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.schedule != nil {
				t.Logf("schedule: %s", c.schedule)
			}
			e := newStore(t)
			decidertest.Run(t, decidertest.Harness{New: func(t decidertest.TB) decidertest.Record {
				return e.record(t, c.schedule)
			}})
			if n := e.faults.Load(); c.schedule != nil && n < 50 {
				t.Errorf("only %d requests met a fault", n)
			}
		})
	}
}

// store is the emulator of one test.
type store struct {
	*emulator.Server
	records atomic.Int64
	faults  atomic.Int64 // requests of ended cases that met one
}

func newStore(t testing.TB) *store {
	t.Helper()
	server, err := emulator.Start(&emulator.Options{Buckets: []string{testBucket}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &store{Server: server}
}

// record is a new object; all its handles share one way to the store.
func (e *store) record(t decidertest.TB, schedule *netfault.Schedule) decidertest.Record {
	t.Helper()
	key := fmt.Sprintf("elections/%d", e.records.Add(1))
	way := newWay(t, &netfault.Options{Schedule: schedule})
	t.Cleanup(func() {
		for _, r := range way.Requests() {
			if r.Fault != "" {
				e.faults.Add(1)
			}
		}
	})
	open := func(w *netfault.Transport) core.RaceDecider {
		return NewDecider(newTestClient(t, e.URL(), w), testBucket, key, nil)
	}
	return decidertest.Record{
		Open: func() core.RaceDecider { return open(way) },
		LoseNext: func(core.RaceDecider) {
			must(t, way.Inject(netfault.Fault{Kind: netfault.LoseAnswer, WritesOnly: true, Count: 1}))
		},
		Plant: func(content []byte) error {
			// What follows is about content. The suite settles an unknown write
			// by reading, which cannot end well where an entry is bad.
			must(t, way.SetSchedule(nil))
			return e.Plant(testBucket, key, content)
		},
		Delete: func() error { return e.Server.Delete(testBucket, key) },
		Deny: func() core.RaceDecider {
			denying := newWay(t, nil)
			must(t, denying.Inject(netfault.Fault{Kind: netfault.Status, Status: http.StatusForbidden,
				Body: []byte(xmlError("AccessDenied", deniedGet))}))
			return open(denying)
		},
	}
}

// newWay is a network that faults can be put into.
func newWay(t decidertest.TB, opts *netfault.Options) *netfault.Transport {
	t.Helper()
	base := &http.Transport{}
	way, err := netfault.NewTransport(base, opts)
	must(t, err)
	t.Cleanup(func() { way.Close(); base.CloseIdleConnections() })
	return way
}

func must(t decidertest.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// TestRequests counts what each step costs, at the wire, and that a lost answer
// is not asked for again.
func TestRequests(t *testing.T) {
	e := newStore(t)
	way := newWay(t, nil)
	d := NewDecider(newTestClient(t, e.URL(), way), testBucket, testKey, nil)
	ctx := context.Background()
	cost := func(what string, want outcome, do func() error) {
		t.Helper()
		way.Reset()
		err := do()
		var failed core.FailedAcquisitionErr
		if (want == lost) != errors.As(err, &failed) {
			t.Fatalf("%s: %v", what, err)
		}
		if n := len(way.Requests()); n != 1 {
			t.Errorf("%s costs %d requests: %v", what, n, way.Requests())
		}
	}
	last, stale := &Token{}, &Token{}
	write := func(base **Token) func() error {
		return func() error {
			next := sampleEntry(*base)
			next.Nonce = fmt.Sprint("nonce-", time.Now().UnixNano())
			token, err := d.WriteEntry(ctx, next)
			if err == nil {
				stale, last = last, token.(*Token)
			}
			return err
		}
	}
	readIt := func() error { _, err := d.ReadCurrent(ctx); return err }

	none := &Token{}
	cost("a read of nothing", absent, readIt)
	cost("a creation", unknown, write(&none))
	cost("a read", unknown, readIt)
	cost("an overwrite", unknown, write(&last))
	cost("a lost creation", lost, write(&none))
	cost("a lost overwrite", lost, write(&stale))
	for _, status := range []int{503, 500, 409, 429} { // what the client would repeat
		must(t, way.Inject(netfault.Fault{Kind: netfault.Status, Status: status, WritesOnly: true, Count: 1}))
		cost(fmt.Sprint("an overwrite that is answered with ", status), unknown, func() error {
			if err := write(&last)(); err == nil || errors.Is(err, core.ErrBroken) {
				t.Fatalf("%v", err)
			}
			return nil
		})
	}
	must(t, way.Inject(netfault.Fault{Kind: netfault.LoseAnswer, WritesOnly: true, Count: 1}))
	cost("an overwrite whose answer is lost", unknown, func() error {
		if err := write(&last)(); err == nil || errors.Is(err, core.ErrBroken) {
			t.Fatalf("%v", err)
		}
		return nil
	})
	now, err := d.ReadCurrent(ctx)
	if err != nil || now.Token.(*Token).ETag() == last.etag {
		t.Errorf("the write whose answer was lost is not stored: %+v, %v", now, err)
	}
}

// TestMissingBucket is found out by the first request.
func TestMissingBucket(t *testing.T) {
	e := newStore(t)
	d := NewDecider(newTestClient(t, e.URL(), nil), "no-such-bucket", testKey, nil)
	for _, op := range []operation{read, create, overwrite} {
		if _, err := ask(d, op); !errors.Is(err, core.ErrBroken) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// TestDeleteMarker counts as absent.
func TestDeleteMarker(t *testing.T) {
	e := newStore(t)
	must(t, e.SetVersioning(testBucket, true))
	d := NewDecider(newTestClient(t, e.URL(), nil), testBucket, testKey, nil)
	token, err := d.WriteEntry(context.Background(), sampleEntry(&Token{}))
	must(t, err)
	must(t, e.Delete(testBucket, testKey))
	if got, err := d.ReadCurrent(context.Background()); err != nil || !got.Absent() {
		t.Errorf("%+v, %v", got, err)
	}
	var failed core.FailedAcquisitionErr
	if _, err := d.WriteEntry(context.Background(), sampleEntry(token)); !errors.As(err, &failed) {
		t.Errorf("overwriting it: %v", err)
	}
	_, err = d.WriteEntry(context.Background(), sampleEntry(&Token{}))
	must(t, err)
}
