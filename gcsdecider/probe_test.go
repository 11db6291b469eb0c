package gcsdecider

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
	"github.com/cloudelect/cloudelect/emulators/badstore"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// noLimit is for an emulator.
const noLimit = -1

func TestProbe(t *testing.T) {
	e := newEmulator(t)
	for _, interval := range []time.Duration{noLimit, 50 * time.Millisecond} {
		way := newWay(t, nil)
		d := NewDecider(emulatorClient(t, e.Server, way), testBucket, testObject, &Options{MinWriteInterval: interval})
		report, err := d.Probe(context.Background())
		if err != nil || !report.Usable {
			t.Fatalf("%+v, %v", report, err)
		}
		for _, c := range report.Checks {
			if !c.Passed {
				t.Errorf("%+v", c)
			}
		}
		if report.RoundTripMedian <= 0 || report.RoundTripWorst < report.RoundTripMedian || report.DatedAnswers != report.Answers {
			t.Errorf("%+v", report)
		}
		if report.ClockAheadMin > 0 || report.ClockAheadMax < 0 {
			t.Errorf("the emulator has another clock: %v to %v", report.ClockAheadMin, report.ClockAheadMax)
		}
		created, deleted := 0, 0
		for _, r := range way.Requests() {
			if !strings.Contains(r.Path+r.Query, ".probe-") {
				t.Errorf("not a scratch object: %v", r)
			}
			if r.Status/100 == 2 && strings.Contains(r.Query, "ifGenerationMatch=0") {
				created++
			}
			if r.Status/100 == 2 && r.Method == http.MethodDelete {
				deleted++
			}
		}
		if created < 5 || created != deleted {
			t.Errorf("%d scratch objects were created, %d deleted", created, deleted)
		}
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
	e := newEmulator(t)
	for _, m := range badstore.Mistakes() {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			proxy, err := badstore.Listen(e.URL(), badstore.GCS, m)
			must(t, err)
			t.Cleanup(proxy.Close)
			d := NewDecider(newTestClient(t, endpointOptions(t, proxy.URL())...), testBucket, testObject, &Options{MinWriteInterval: noLimit})
			opts := &probe.Options{Patience: time.Second} // of the one that never gives a clear answer
			report, err := probe.Run(context.Background(), probe.Target{Scratch: d.scratch}, opts)
			if err != nil || report.Usable {
				t.Fatalf("%+v, %v", report, err)
			}
			i := slices.IndexFunc(report.Checks, func(c core.ProbeCheck) bool { return !c.Passed && c.Advice != "" })
			if i < 0 || report.Checks[i].Name != failed[m] || report.Checks[i].Inconclusive != (m == badstore.OmitVersion) {
				t.Errorf("want a failure of %q: %+v", failed[m], report.Checks)
			}
			t.Log(probe.Verdict(report))
			requests := proxy.Requests()
			for _, r := range requests {
				if !strings.HasPrefix(r.Key, testObject+".probe-") {
					t.Errorf("not a scratch object: %+v", r)
				}
			}
			if len(requests) < 5 {
				t.Errorf("only %d requests", len(requests))
			}
		})
	}
}

// TestProbeFinds what a store denies.
func TestProbeFinds(t *testing.T) {
	e := newEmulator(t)
	for _, c := range []struct {
		name   string
		fault  netfault.Fault
		failed string
		says   string
		usable bool
	}{
		{"no permission to read", netfault.Fault{Kind: netfault.Status, Status: 403, Method: http.MethodGet, Body: []byte(deniedList)},
			probe.CheckRead, "storage.objects.list", false},
		{"no permission to create", netfault.Fault{Kind: netfault.Status, Status: 403, Method: http.MethodPost,
			Body: []byte(apiError(403, "forbidden", "x does not have storage.objects.create access"))}, probe.CheckCreate, "storage.objects.create", false},
		{"no permission to delete", netfault.Fault{Kind: netfault.Status, Status: 403, Method: http.MethodDelete,
			Body: []byte(apiError(403, "forbidden", deniedDelete))}, probe.CheckDelete, "left behind", true},
		{"throttled for a while", netfault.Fault{Kind: netfault.Status, Status: 429, Count: 12, Body: []byte(apiError(429, "rateLimitExceeded", "slow down"))},
			"", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			way := newWay(t, nil)
			must(t, way.Inject(c.fault))
			d := NewDecider(emulatorClient(t, e.Server, way), testBucket, testObject, &Options{MinWriteInterval: noLimit})
			report, err := d.Probe(context.Background())
			if err != nil || report.Usable != c.usable {
				t.Fatalf("%+v, %v", report, err)
			}
			for _, check := range report.Checks {
				if bad := !check.Passed && check.Advice != ""; bad != (check.Name == c.failed) || bad && !strings.Contains(check.Detail, c.says) {
					t.Errorf("%+v", check)
				}
			}
		})
	}
}

// TestProbeFirst: a bad store is refused before the first write, a good one
// probed once.
func TestProbeFirst(t *testing.T) {
	e := newEmulator(t)
	proxy, err := badstore.Listen(e.URL(), badstore.GCS, badstore.IgnoreOverwrite)
	must(t, err)
	t.Cleanup(proxy.Close)
	opts := &Options{MinWriteInterval: noLimit, ProbeFirst: true}
	d := NewDecider(newTestClient(t, endpointOptions(t, proxy.URL())...), testBucket, testObject, opts)
	for range 2 {
		_, err := d.WriteEntry(context.Background(), sampleEntry(&Token{}))
		if !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), probe.CheckOldToken) || !strings.Contains(err.Error(), d.String()) {
			t.Errorf("%v", err)
		}
	}
	if _, err := d.ReadCurrent(context.Background()); err != nil {
		t.Errorf("reading is not writing: %v", err)
	}
	for _, r := range proxy.Requests() {
		if r.Key == testObject && r.Kind != badstore.Read {
			t.Errorf("written: %+v", r)
		}
	}

	way := newWay(t, nil)
	good := NewDecider(emulatorClient(t, e.Server, way), testBucket, "good", opts)
	token, err := good.WriteEntry(context.Background(), sampleEntry(&Token{}))
	must(t, err)
	way.Reset()
	_, err = good.WriteEntry(context.Background(), sampleEntry(token))
	must(t, err)
	if n := len(way.Requests()); n != 1 {
		t.Errorf("%d requests for the second write", n)
	}
}

// TestProbeInterrupted: no verdict, and nothing left behind.
func TestProbeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			stored(1, "2025-01-02T03:04:06Z")(rw, r)
			cancel() // during the pause, or just before it
			return
		}
		refusal(404, "No such object: x")(rw, r)
	})
	report, err := w.decider(t, nil).Probe(ctx)
	if !errors.Is(err, context.Canceled) || report.Usable {
		t.Fatalf("%+v, %v", report, err)
	}
	seen := w.seen()
	if last := seen[len(seen)-1]; last.method != http.MethodDelete {
		t.Errorf("the last request is %s %s", last.method, last.path)
	}
	if report, err := NewDecider(nil, "", "", nil).Probe(context.Background()); !errors.Is(err, core.ErrInvalidConfig) || report.Usable {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestProbeInBadWeather: a network that loses, delays and repeats is no bad store.
func TestProbeInBadWeather(t *testing.T) {
	e := newEmulator(t)
	for _, seed := range []uint64{5} {
		schedule := badWeather(seed)
		schedule.Chances = append(schedule.Chances, netfault.Chance{P: 0.05, Fault: netfault.Fault{Kind: netfault.Duplicate}})
		t.Run(schedule.String(), func(t *testing.T) {
			t.Parallel()
			way := newWay(t, &netfault.Options{Schedule: schedule})
			d := NewDecider(emulatorClient(t, e.Server, way), testBucket, testObject, &Options{MinWriteInterval: noLimit})
			report, err := d.Probe(context.Background())
			if err != nil || !report.Usable || report.UnclearAnswers == 0 {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}
