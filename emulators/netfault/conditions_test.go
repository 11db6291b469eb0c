package netfault_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

func TestConditionsAndCounts(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		ctx := context.Background()
		inject(t, g,
			netfault.Fault{Kind: netfault.Status, Status: 500, Method: "delete"},
			netfault.Fault{Kind: netfault.Status, Status: 501, PathContains: "/there"},
			netfault.Fault{Kind: netfault.Status, Status: 502, Match: func(r *http.Request) bool { return r.URL.RawQuery == "q" }},
			netfault.Fault{Kind: netfault.Status, Status: 503, WritesOnly: true, Count: 2},
			netfault.Fault{Kind: netfault.Status, Status: 504, WritesOnly: true, Count: 1})
		for _, want := range []struct {
			method, path string
			status       int
		}{
			{"GET", "/o", 200}, {"DELETE", "/o", 500}, {"GET", "/is/there/o", 501}, {"GET", "/o?q", 502},
			{"PUT", "/o", 503}, {"GET", "/o", 200}, {"POST", "/o", 503}, {"PUT", "/o", 504}, {"PUT", "/o", 200}, {"DELETE", "/o", 500},
		} {
			if got := g.do(ctx, want.method, want.path, ""); got.status != want.status {
				t.Errorf("%s %s: %d, want %d", want.method, want.path, got.status, want.status)
			}
		}
		if n := len(g.Requests()); n != 10 {
			t.Errorf("%d requests counted, want 10", n)
		}
		g.Clear()
		g.Reset()
		if got := g.do(ctx, "DELETE", "/o", ""); got.status != 200 || len(g.Requests()) != 1 || g.last().Seq != 1 {
			t.Errorf("after Clear and Reset: %+v, %v", got, g.Requests())
		}
	})
}

func TestIsWrite(t *testing.T) {
	for target, want := range map[string]bool{
		"DynamoDB_20120810.UpdateItem": true, "DynamoDB_20120810.PutItem": true, "DynamoDB_20120810.TransactWriteItems": true, "": true,
		"DynamoDB_20120810.GetItem": false, "DynamoDB_20120810.DescribeTable": false, "DynamoDB_20120810.BatchGetItem": false,
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("X-Amz-Target", target)
		if netfault.IsWrite(r) != want {
			t.Errorf("POST %q: write %t", target, !want)
		}
	}
	if netfault.IsWrite(httptest.NewRequest("GET", "/", nil)) || netfault.IsWrite(httptest.NewRequest("HEAD", "/", nil)) {
		t.Error("a read is called a write")
	}
}

func TestBadInputIsRefused(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		for _, f := range []netfault.Fault{
			{}, {Kind: 99}, {Kind: netfault.Status}, {Kind: netfault.Status, Status: 99}, {Kind: netfault.Delay},
			{Kind: netfault.Delay, For: -1}, {Kind: netfault.Reset, For: 1}, {Kind: netfault.Reset, Status: 503}, {Kind: netfault.Reset, Count: -1},
		} {
			if err := g.Inject(netfault.Fault{Kind: netfault.Reset}, f); err == nil {
				t.Errorf("%+v was accepted", f)
			}
		}
		if got := g.put("x"); got.status != 200 {
			t.Errorf("a refused Inject had an effect: %+v", got)
		}
	})
	for _, target := range []string{"", "127.0.0.1:80", "ftp://h", "http://h/path", "http://\x00"} {
		if p, err := netfault.Listen(target, nil); err == nil {
			p.Close()
			t.Errorf("target %q was accepted", target)
		}
	}
	for _, addr := range []string{":0", "0.0.0.0:0", "192.0.2.1:0", "nonsense"} {
		if p, err := netfault.Listen("http://127.0.0.1:1", &netfault.Options{Addr: addr}); err == nil {
			p.Close()
			t.Errorf("listens on %q", addr)
		}
	}
	if _, err := netfault.NewTransport(nil, &netfault.Options{Schedule: &netfault.Schedule{Chances: []netfault.Chance{{P: 2}}}}); err == nil {
		t.Error("a bad schedule was accepted")
	}
}

// A proxy whose server is not there says so; that is no injected fault.
func TestServerNotThere(t *testing.T) {
	b := newBackend(t)
	proxy, err := netfault.Listen(b.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	b.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Get(proxy.URL())
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if r := proxy.Requests()[0]; response.StatusCode != http.StatusBadGateway || r.Status != http.StatusBadGateway || r.Err == "" || r.Fault != "" {
		t.Errorf("status %d, record %+v", response.StatusCode, r)
	}
}
