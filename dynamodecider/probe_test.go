package dynamodecider

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
	"github.com/cloudelect/cloudelect/emulators/badstore"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// behind starts a proxy in front of the emulator, and a client that goes through it.
func (s *store) behind(t *testing.T, m badstore.Mistake) (*badstore.Proxy, *dynamodb.Client) {
	t.Helper()
	proxy, err := badstore.Listen(s.URL(), badstore.DynamoDB, m)
	must(t, err)
	t.Cleanup(proxy.Close)
	return proxy, clientOver(&http.Client{Transport: s.way(t, nil)}, proxy.URL())
}

// leftovers are the scratch items that were written and never deleted. Nothing else
// may have been asked for.
func leftovers(t *testing.T, requests []badstore.Request) (names []string) {
	t.Helper()
	there := map[string]bool{}
	for _, r := range requests {
		if !strings.HasPrefix(r.Key, testName+".probe-") {
			t.Errorf("not a scratch item: %+v", r)
		}
		if r.Status == 200 && r.Kind != badstore.Read {
			there[r.Key] = r.Kind != badstore.Delete
		}
	}
	for name, is := range there {
		if is {
			names = append(names, name)
		}
	}
	return names
}

func TestProbe(t *testing.T) {
	for _, plain := range []bool{false, true} {
		e := newEmulator(t)
		e.plain = plain
		proxy, client := e.behind(t, badstore.None)
		report, err := NewDecider(client, testTable, testName, nil).Probe(context.Background())
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
		if left := leftovers(t, proxy.Requests()); len(left) > 0 || len(report.LeftBehind) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}

// TestProbeOfBadStores: each is refused, for the right reason, and the election's
// own item is never touched.
func TestProbeOfBadStores(t *testing.T) {
	failed := map[badstore.Mistake]string{
		badstore.IgnoreCreate:    probe.CheckCreateTwice,
		badstore.IgnoreOverwrite: probe.CheckOldToken,
		badstore.KeepOld:         probe.CheckReadBack,
		badstore.DenyOverwrite:   probe.CheckOverwrite,
		badstore.OmitVersion:     probe.CheckReadBack,
		badstore.CacheReads:      probe.CheckReadBack,
		badstore.RacersWin:       probe.CheckRacingCreations,
	}
	e := newEmulator(t)
	for _, m := range badstore.Mistakes() {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			proxy, client := e.behind(t, m)
			report, err := NewDecider(client, testTable, testName, nil).Probe(context.Background())
			if err != nil || report.Usable {
				t.Fatalf("%+v, %v", report, err)
			}
			i := slices.IndexFunc(report.Checks, func(c core.ProbeCheck) bool { return !c.Passed && c.Advice != "" })
			if i < 0 || report.Checks[i].Name != failed[m] || report.Checks[i].Inconclusive {
				t.Errorf("want a failure of %q: %+v", failed[m], report.Checks)
			}
			t.Log(probe.Verdict(report))
			if left := leftovers(t, proxy.Requests()); len(left) > 0 || len(proxy.Requests()) < 5 {
				t.Errorf("left behind: %q; requests: %+v", left, proxy.Requests())
			}
		})
	}
}

// cannotDelete is a client that elections can do with.
type cannotDelete struct{ API }

// TestProbeWithoutDeleting: elections never delete, so the verdict is yes, and what
// stays is named.
func TestProbeWithoutDeleting(t *testing.T) {
	e := newEmulator(t)
	denying := e.way(t, nil)
	denied := answering(400, refusal("AccessDeniedException", "not authorized to perform: dynamodb:DeleteItem"))
	denied.Match = func(r *http.Request) bool { return strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DeleteItem") }
	must(t, denying.Inject(denied))
	for what, wrap := range map[string]func(root string) API{
		"denied": func(root string) API { return clientOver(&http.Client{Transport: denying}, root) },
		"a narrow client": func(root string) API {
			return cannotDelete{clientOver(&http.Client{Transport: e.way(t, nil)}, root)}
		},
	} {
		t.Run(what, func(t *testing.T) {
			proxy, _ := e.behind(t, badstore.None)
			report, err := NewDecider(wrap(proxy.URL()), testTable, testName, nil).Probe(context.Background())
			if err != nil || !report.Usable {
				t.Fatalf("%+v, %v", report, err)
			}
			if left := leftovers(t, proxy.Requests()); len(left) == 0 || len(left) > 4 || len(left) != len(report.LeftBehind) {
				t.Errorf("%q are left, and the report names %q", left, report.LeftBehind)
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
	e := newEmulator(t)
	way := e.way(t, nil)
	throttled, late := answering(400, refusal("ThrottlingException", "slow down")), answering(500, refusal("InternalServerError", "x"))
	throttled.Count = 5
	late.Kind, late.WritesOnly, late.Count = netfault.StatusAfter, true, 2
	must(t, way.Inject(throttled, late))
	d := NewDecider(clientOver(&http.Client{Transport: way}, e.URL()), testTable, testName, nil)
	if report, err := d.Probe(context.Background()); err != nil || !report.Usable || report.UnclearAnswers < 5 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// TestProbeFirst: a bad store is refused before the first write, a good one
// probed once.
func TestProbeFirst(t *testing.T) {
	e := newEmulator(t)
	proxy, client := e.behind(t, badstore.IgnoreOverwrite)
	d := NewDecider(client, testTable, testName, &Options{ProbeFirst: true})
	for range 2 {
		_, err := d.WriteEntry(context.Background(), sampleEntry(absentToken(storeTime)))
		if !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), probe.CheckOldToken) || !strings.Contains(err.Error(), d.String()) {
			t.Errorf("%v", err)
		}
	}
	leftovers(t, proxy.Requests()) // and nothing else

	way := e.way(t, nil)
	good := NewDecider(clientOver(&http.Client{Transport: way}, e.URL()), testTable, testName, &Options{ProbeFirst: true})
	token, err := good.WriteEntry(context.Background(), sampleEntry(absentToken(storeTime)))
	must(t, err)
	way.Reset()
	if _, err := good.WriteEntry(context.Background(), sampleEntry(token)); err != nil || len(way.Requests()) != 1 {
		t.Errorf("%v; the second write: %v", err, way.Requests())
	}
}

func TestProbeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e := newEmulator(t)
	proxy, _ := e.behind(t, badstore.None)
	way := e.way(t, nil)
	var sent atomic.Int32
	must(t, way.Inject(netfault.Fault{Kind: netfault.Reset, Match: func(*http.Request) bool {
		if sent.Add(1) == 30 { // in the middle
			cancel()
		}
		return false
	}}))
	d := NewDecider(clientOver(&http.Client{Transport: way}, proxy.URL()), testTable, testName, nil)
	if report, err := d.Probe(ctx); !errors.Is(err, context.Canceled) || report.Usable {
		t.Errorf("%+v, %v", report, err)
	}
	if left := leftovers(t, proxy.Requests()); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if report, err := NewDecider(nil, "", "", nil).Probe(context.Background()); !errors.Is(err, core.ErrInvalidConfig) || report.Usable {
		t.Errorf("%+v, %v", report, err)
	}
}
