package s3decider

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
	"github.com/cloudelect/cloudelect/emulators/badstore"
	"github.com/cloudelect/cloudelect/emulators/netfault"
	emulator "github.com/cloudelect/cloudelect/emulators/s3"
)

func probeEmulator(t *testing.T) *emulator.Server {
	t.Helper()
	server, err := emulator.Start(&emulator.Options{Buckets: []string{testBucket}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// probeWay is a network that faults can be put into.
func probeWay(t *testing.T, faults ...netfault.Fault) *netfault.Transport {
	t.Helper()
	base := &http.Transport{}
	way, err := netfault.NewTransport(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { way.Close(); base.CloseIdleConnections() })
	if err := way.Inject(faults...); err != nil {
		t.Fatal(err)
	}
	return way
}

func TestProbe(t *testing.T) {
	e := probeEmulator(t)
	way := probeWay(t)
	report, err := NewDecider(newTestClient(t, e.URL(), way), testBucket, testKey, nil).Probe(context.Background())
	if err != nil || !report.Usable {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, c := range report.Checks {
		if !c.Passed {
			t.Errorf("%+v", c)
		}
	}
	if report.RoundTripMedian <= 0 || report.DatedAnswers != report.Answers || report.ClockAheadMin > 0 || report.ClockAheadMax < 0 {
		t.Errorf("%+v", report)
	}
	for _, r := range way.Requests() {
		if !strings.Contains(r.Path, testKey+".probe-") {
			t.Errorf("not a scratch object: %v", r)
		}
	}
	if keys, err := e.Keys(testBucket, ""); err != nil || len(keys) > 0 {
		t.Errorf("left behind: %q, %v", keys, err)
	}
}

// TestProbeOfBadStores: each is refused, for the right reason, and the election's
// own object is never touched.
func TestProbeOfBadStores(t *testing.T) {
	failed := map[badstore.Mistake]string{
		badstore.IgnoreCreate:    probe.CheckCreateTwice,
		badstore.IgnoreOverwrite: probe.CheckOldToken,
		badstore.KeepOld:         probe.CheckReadBack,
		badstore.DenyOverwrite:   probe.CheckOverwrite,
		badstore.OmitVersion:     probe.CheckCreate,
		badstore.CacheReads:      probe.CheckReadBack,
		badstore.RacersWin:       probe.CheckRacingCreations,
	}
	e := probeEmulator(t)
	for _, m := range badstore.Mistakes() {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			proxy, err := badstore.Listen(e.URL(), badstore.S3, m)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(proxy.Close)
			report, err := NewDecider(newTestClient(t, proxy.URL(), nil), testBucket, testKey, nil).Probe(context.Background())
			if err != nil || report.Usable {
				t.Fatalf("%+v, %v", report, err)
			}
			i := slices.IndexFunc(report.Checks, func(c core.ProbeCheck) bool { return !c.Passed && c.Advice != "" })
			if i < 0 || report.Checks[i].Name != failed[m] || report.Checks[i].Inconclusive {
				t.Errorf("want a failure of %q: %+v", failed[m], report.Checks)
			}
			t.Log(probe.Verdict(report))
			requests := proxy.Requests()
			for _, r := range requests {
				if !strings.HasPrefix(r.Key, testKey+".probe-") {
					t.Errorf("not a scratch object: %+v", r)
				}
			}
			if len(requests) < 5 {
				t.Errorf("only %d requests", len(requests))
			}
		})
	}
}

// cannotDelete is a client that elections can do with.
type cannotDelete struct{ API }

// TestProbeWithoutDeleting: elections never delete, so the verdict is yes, and what stays is named.
func TestProbeWithoutDeleting(t *testing.T) {
	e := probeEmulator(t)
	denied := netfault.Fault{Kind: netfault.Status, Status: 403, Method: http.MethodDelete,
		Header: http.Header{"Content-Type": {"application/xml"}}, Body: []byte(xmlError("AccessDenied", "Access Denied"))}
	for name, client := range map[string]API{
		"denied":          newTestClient(t, e.URL(), probeWay(t, denied)),
		"a narrow client": cannotDelete{newTestClient(t, e.URL(), nil)},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := NewDecider(client, testBucket, name, nil).Probe(context.Background())
			if err != nil || !report.Usable {
				t.Fatalf("%+v, %v", report, err)
			}
			keys, err := e.Keys(testBucket, name)
			if err != nil || len(keys) == 0 || len(keys) > 4 || len(keys) != len(report.LeftBehind) {
				t.Errorf("%q, %v, and the report names %q", keys, err, report.LeftBehind)
			}
			for _, c := range report.Checks {
				if c.Passed == (c.Name == probe.CheckDelete) {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// TestProbeThrottled: a store that asks for fewer requests is not a bad one.
func TestProbeThrottled(t *testing.T) {
	e := probeEmulator(t)
	way := probeWay(t,
		netfault.Fault{Kind: netfault.Status, Status: 503, Count: 5, Body: []byte(xmlError("SlowDown", "Reduce your request rate."))},
		netfault.Fault{Kind: netfault.StatusAfter, Status: 500, WritesOnly: true, Count: 2, Body: []byte(xmlError("InternalError", "x"))})
	report, err := NewDecider(newTestClient(t, e.URL(), way, onlyOnce), testBucket, testKey, nil).Probe(context.Background())
	if err != nil || !report.Usable || report.UnclearAnswers < 5 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// TestProbeFirst: a bad store is refused before the first write, a good one
// probed once.
func TestProbeFirst(t *testing.T) {
	e := probeEmulator(t)
	proxy, err := badstore.Listen(e.URL(), badstore.S3, badstore.IgnoreOverwrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	d := NewDecider(newTestClient(t, proxy.URL(), nil), testBucket, testKey, &Options{ProbeFirst: true})
	for range 2 {
		_, err := d.WriteEntry(context.Background(), sampleEntry(&Token{}))
		if !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), probe.CheckOldToken) || !strings.Contains(err.Error(), d.String()) {
			t.Errorf("%v", err)
		}
	}
	for _, r := range proxy.Requests() {
		if r.Key == testKey {
			t.Errorf("touched: %+v", r)
		}
	}

	way := probeWay(t)
	good := NewDecider(newTestClient(t, e.URL(), way), testBucket, "good", &Options{ProbeFirst: true})
	token, err := good.WriteEntry(context.Background(), sampleEntry(&Token{}))
	if err != nil {
		t.Fatal(err)
	}
	way.Reset()
	if _, err := good.WriteEntry(context.Background(), sampleEntry(token)); err != nil || len(way.Requests()) != 1 {
		t.Errorf("%v; the second write: %v", err, way.Requests())
	}
}

func TestProbeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e := probeEmulator(t)
	var sent atomic.Int32
	way := probeWay(t, netfault.Fault{Kind: netfault.Reset, Match: func(*http.Request) bool {
		if sent.Add(1) == 30 { // in the middle
			cancel()
		}
		return false
	}})
	report, err := NewDecider(newTestClient(t, e.URL(), way), testBucket, testKey, nil).Probe(ctx)
	if !errors.Is(err, context.Canceled) || report.Usable {
		t.Errorf("%+v, %v", report, err)
	}
	if keys, err := e.Keys(testBucket, ""); err != nil || len(keys) > 0 {
		t.Errorf("left behind: %q, %v", keys, err)
	}
	if report, err := NewDecider((*s3.Client)(nil), "", "", nil).Probe(context.Background()); !errors.Is(err, core.ErrInvalidConfig) || report.Usable {
		t.Errorf("%+v, %v", report, err)
	}
}
