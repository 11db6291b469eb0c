package gcsdecider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

var quick = &Options{MinWriteInterval: -1}

func TestProbe(t *testing.T) {
	e := newEmulator(t)
	way := newWay(t, nil)
	d := NewDecider(emulatorClient(t, e.Server, way), testBucket, testObject, quick)
	report, err := d.Probe(context.Background())
	if err != nil || !report.Usable || len(report.Checks) != 7 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, c := range report.Checks {
		if !c.Passed {
			t.Errorf("%+v", c)
		}
	}
	var deleted bool
	for _, r := range way.Requests() {
		if strings.HasSuffix(r.Path, testObject) || strings.HasSuffix(r.Query, testObject) {
			t.Errorf("the election's own object was touched: %v", r)
		}
		deleted = deleted || r.Method == http.MethodDelete && r.Status < 300
	}
	if !deleted {
		t.Error("the scratch object is still there")
	}
}

// TestProbeFinds what a store refuses, or fails to refuse.
func TestProbeFinds(t *testing.T) {
	e := newEmulator(t)
	for _, c := range []struct {
		name   string
		fault  netfault.Fault
		failed string
		says   string
	}{
		{"no permission to read", netfault.Fault{Kind: netfault.Status, Status: 403, Method: http.MethodGet, Body: []byte(deniedList)},
			"a missing object reads as missing", "storage.objects.list"},
		{"no permission to overwrite", netfault.Fault{Kind: netfault.Status, Status: 403, Method: http.MethodPost,
			Match: func(r *http.Request) bool { return r.URL.Query().Get("ifGenerationMatch") != "0" },
			Body:  []byte(apiError(403, "forbidden", deniedDelete))}, "it can be overwritten", "storage.objects.delete"},
		{"no permission to delete", netfault.Fault{Kind: netfault.Status, Status: 403, Method: http.MethodDelete,
			Body: []byte(apiError(403, "forbidden", deniedDelete))}, "the scratch object can be deleted", "left behind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			way := newWay(t, nil)
			must(t, way.Inject(c.fault))
			report, err := NewDecider(emulatorClient(t, e.Server, way), testBucket, testObject, quick).Probe(context.Background())
			checkProbe(t, report, err, c.failed, c.says)
			if report.Usable != (c.name == "no permission to delete") {
				t.Errorf("usable: %v", report.Usable)
			}
		})
	}
	t.Run("conditions are ignored", func(t *testing.T) {
		var generation atomic.Int64
		w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case http.MethodPost:
				stored(generation.Add(1), "2025-01-02T03:04:06Z")(rw, r)
			case http.MethodGet:
				refusal(404, "No such object: "+fmt.Sprint(r.URL))(rw, r)
			}
		})
		report, err := w.decider(t, quick).Probe(context.Background())
		checkProbe(t, report, err, "a second creation is refused", "cannot carry an election")
		if report.Usable {
			t.Error("usable")
		}
	})
}

func checkProbe(t *testing.T, report core.ProbeReport, err error, failed, says string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Passed == (c.Name == failed) || !c.Passed && !strings.Contains(c.Detail, says) {
			t.Errorf("%+v", c)
		}
	}
	if len(report.Checks) == 0 {
		t.Error("no checks")
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
