package gcsdecider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/netfault"
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
		status(0.08, netfault.Status, 429),
		status(0.08, netfault.Status, 503),
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
		vimeo    bool
	}{
		{"direct", nil, false},
		{"bad weather, seed 2", badWeather(2), false},
		{"bad weather, seed 3", badWeather(3), false},
		{"in the form of vimeo/leaderelection", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.schedule != nil {
				t.Logf("schedule: %s", c.schedule)
			}
			e := newEmulator(t)
			decidertest.Run(t, decidertest.Harness{New: func(t decidertest.TB) decidertest.Record {
				return e.record(t, c.schedule, c.vimeo)
			}})
			if n := e.faults.Load(); c.schedule != nil && n < 50 {
				t.Errorf("only %d requests met a fault", n)
			}
		})
	}
}

// emulator is the store of one test.
type emulator struct {
	*gcs.Server
	records atomic.Int64
	faults  atomic.Int64 // requests of ended cases that met one
}

func newEmulator(t testing.TB) *emulator {
	t.Helper()
	server, err := gcs.Start(&gcs.Options{Buckets: []string{testBucket}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &emulator{Server: server}
}

// record is a new object; all its handles share one way to the store.
func (e *emulator) record(t decidertest.TB, schedule *netfault.Schedule, vimeo bool) decidertest.Record {
	t.Helper()
	object := fmt.Sprintf("elections/%d", e.records.Add(1))
	way := newWay(t, &netfault.Options{Schedule: schedule})
	t.Cleanup(func() {
		for _, r := range way.Requests() {
			if r.Fault != "" {
				e.faults.Add(1)
			}
		}
	})
	open := func(w *netfault.Transport) core.RaceDecider {
		return NewDecider(emulatorClient(t, e.Server, w), testBucket, object, &Options{MinWriteInterval: -1, VimeoForm: vimeo})
	}
	return decidertest.Record{
		Open: func() core.RaceDecider { return open(way) },
		LoseNext: func(core.RaceDecider) {
			must(t, way.Inject(netfault.Fault{Kind: netfault.LoseAnswer, WritesOnly: true, Count: 1}))
		},
		Plant:  func(content []byte) error { return e.Plant(testBucket, object, content) },
		Delete: func() error { return e.Delete(testBucket, object) },
		Deny: func() core.RaceDecider {
			denying := newWay(t, nil)
			must(t, denying.Inject(netfault.Fault{Kind: netfault.Status, Status: http.StatusForbidden,
				Body: []byte(apiError(403, "forbidden", deniedGet))}))
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

func emulatorClient(t decidertest.TB, server *gcs.Server, way http.RoundTripper) *storage.Client {
	t.Helper()
	client, err := NewClient(context.Background(), option.WithEndpoint(server.ClientEndpoint()),
		option.WithoutAuthentication(), option.WithHTTPClient(&http.Client{Transport: way}))
	must(t, err)
	t.Cleanup(func() { client.Close() })
	return client
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
	e := newEmulator(t)
	way := newWay(t, nil)
	d := NewDecider(emulatorClient(t, e.Server, way), testBucket, testObject, nil)
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
	absentToken := &Token{}
	last := absentToken
	write := func(base *Token) func() error {
		return func() error {
			token, err := d.WriteEntry(ctx, sampleEntry(base))
			if err == nil {
				last = token.(*Token)
			}
			return err
		}
	}
	readIt := func() error { _, err := d.ReadCurrent(ctx); return err }

	cost("a read of nothing", absent, readIt)
	cost("a creation", unknown, write(absentToken))
	cost("a read", unknown, readIt)
	cost("an overwrite", unknown, write(last))
	cost("a lost creation", lost, write(absentToken))
	cost("a lost overwrite", lost, write(&Token{generation: last.generation - 1}))

	must(t, way.Inject(netfault.Fault{Kind: netfault.LoseAnswer, WritesOnly: true, Count: 1}))
	cost("an overwrite whose answer is lost", unknown, func() error {
		if err := write(last)(); err == nil || errors.Is(err, core.ErrBroken) {
			t.Fatalf("%v", err)
		}
		return nil
	})
	now, err := d.ReadCurrent(ctx)
	if err != nil || now.Token.(*Token).Generation() == last.generation {
		t.Errorf("the write whose answer was lost is not stored: %+v, %v", now, err)
	}
}

// TestMissingBucket: found out by the first read, where the answer tells.
func TestMissingBucket(t *testing.T) {
	e := newEmulator(t)
	d := NewDecider(emulatorClient(t, e.Server, newWay(t, nil)), "no-such-bucket", testObject, nil)
	for _, op := range []operation{read, create, overwrite} {
		if _, err := ask(d, op); !errors.Is(err, core.ErrBroken) {
			t.Errorf("%s: %v", op, err)
		}
	}
}
