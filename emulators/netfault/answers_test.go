package netfault_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

func TestWithoutFaultsNothingChanges(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		got := g.do(context.Background(), "POST", "/a%2Fb?x=y", "hello")
		if got.err != nil || got.status != 200 || got.body != "echo hello" || got.header.Get("Date") != serverDate.Format(http.TimeFormat) {
			t.Errorf("answer %+v", got)
		}
		want := netfault.Request{Seq: 1, Method: "POST", Path: "/a/b", Query: "x=y", Write: true, Sent: 1, ServerStatus: 200, Status: 200, Done: true}
		if r := g.last(); r != want {
			t.Errorf("record %+v, want %+v", r, want)
		}
	})
}

// Each fault that ends a request: what the client sees, and whether the server saw it.
func TestEndings(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		for _, test := range []struct {
			fault   netfault.Fault
			status  int
			is      error
			applied bool
		}{
			{netfault.Fault{Kind: netfault.Status, Status: 429}, 429, nil, false},
			{netfault.Fault{Kind: netfault.StatusAfter, Status: 503}, 503, nil, true},
			{netfault.Fault{Kind: netfault.Reset}, 0, syscall.ECONNRESET, false},
			{netfault.Fault{Kind: netfault.LoseAnswer}, 0, io.EOF, true},
		} {
			g.Clear()
			inject(t, g, test.fault)
			before := len(g.backend.seen())
			got := g.put("x")
			if got.status != test.status || !errors.Is(got.err, test.is) || (test.is == nil) != (got.err == nil) {
				t.Errorf("%s: the client got %+v", test.fault, got)
			}
			if applied := len(g.backend.seen()) > before; applied != test.applied {
				t.Errorf("%s: reached the server: %t", test.fault, applied)
			}
			r := g.last()
			if r.Fault != test.fault.String() || r.Status != test.status || (r.Sent == 1) != test.applied || (r.ServerStatus == 200) != test.applied {
				t.Errorf("%s: record %s", test.fault, r)
			}
		}
	})
}

// An answer that the server did not give has no time of ours in it.
func TestMadeAnswers(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		inject(t, g,
			netfault.Fault{Kind: netfault.Status, Status: 429, Count: 1},
			netfault.Fault{Kind: netfault.StatusAfter, Status: 503, Count: 1},
			netfault.Fault{Kind: netfault.Status, Status: 403, Count: 1, Body: []byte("{}"), Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {"7"}}})
		if got := g.put("x"); got.header["Date"] != nil || !strings.Contains(got.body, "status 429") {
			t.Errorf("429: %+v", got)
		}
		if got := g.put("x"); got.header.Get("Date") != serverDate.Format(http.TimeFormat) || got.header["X-Number"] != nil {
			t.Errorf("503: %+v", got)
		}
		got := g.put("x")
		if got.status != 403 || got.body != "{}" || got.header.Get("Content-Type") != "application/json" || got.header.Get("Retry-After") != "7" {
			t.Errorf("403: %+v", got)
		}
	})
}

func TestDuplicateDeliversTheSecondAnswer(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		inject(t, g, netfault.Fault{Kind: netfault.Duplicate, Count: 1})
		if got := g.put("x"); got.err != nil || got.header.Get("X-Number") != "2" {
			t.Errorf("answer %+v", got)
		}
		if seen := g.backend.seen(); len(seen) != 2 || seen[0] != "PUT /o x" || seen[1] != "PUT /o x" {
			t.Errorf("the server saw %q", seen)
		}
		if r := g.last(); r.Sent != 2 {
			t.Errorf("record %s", r)
		}
	})
}

func TestDates(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		for _, d := range []time.Duration{-90 * time.Second, 24 * time.Hour} {
			inject(t, g, netfault.Fault{Kind: netfault.ShiftDate, For: d, Count: 1})
			if got := g.put("x").header.Get("Date"); got != serverDate.Add(d).Format(http.TimeFormat) {
				t.Errorf("shifted by %s: %q", d, got)
			}
		}
		inject(t, g, netfault.Fault{Kind: netfault.DropDate, Count: 1})
		if got := g.put("x").header; got["Date"] != nil {
			t.Errorf("dropped: %q", got["Date"])
		}
		inject(t, g, netfault.Fault{Kind: netfault.AddAge, For: 90 * time.Second, Count: 1})
		if got := g.put("x").header.Get("Age"); got != "90" {
			t.Errorf("age: %q", got)
		}
	})
}
