package httpleader_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/httpleader"
)

// What the leader gets by way of a follower is what it would have got itself.
func TestForwardKeepsTheWholeQuery(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.replica("a", 0, httpleader.Options{}, func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, r.RequestURI, "|", r.URL.RawQuery) })
		b := w.replica("b", 0, httpleader.Options{Forward: true}, says("from b"))
		for _, query := range []string{"ok=1&q=a;b", "x=%zz&ok=1", "q=%E4&&=", ""} {
			rec := httptest.NewRecorder()
			b.ServeHTTP(rec, httptest.NewRequest("GET", "http://example.com/path?"+query, nil))
			if got := rec.Body.String(); !strings.HasSuffix(got, "|"+query) {
				t.Errorf("the query %q came as %q", query, got)
			}
		}
	})
}

func TestForwardExtendsForwarded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var got []string
		w.replica("a", 0, httpleader.Options{}, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Values("Forwarded") })
		b := w.replica("b", 0, httpleader.Options{Forward: true}, says("from b"))
		const before = "for=198.51.100.7;proto=https"
		for remote, want := range map[string][]string{
			"192.0.2.1:1234":     {before, "for=192.0.2.1"},
			"[2001:db8::1]:1234": {before, `for="[2001:db8::1]"`},
			"@":                  {before, "for=unknown"},
		} {
			req := httptest.NewRequest("GET", "http://example.com/", nil)
			req.RemoteAddr = remote
			req.Header.Set("Forwarded", before)
			b.ServeHTTP(httptest.NewRecorder(), req)
			if !slices.Equal(got, want) {
				t.Errorf("from %s: Forwarded is %q, want %q", remote, got, want)
			}
		}
		b.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "http://example.com/", nil))
		if len(got) > 0 {
			t.Errorf("Forwarded is %q where there was none", got)
		}
	})
}

func TestForwardRefusesAddressesOfNobody(t *testing.T) {
	for hostPort, says := range map[string]string{
		"a:80": "", "10.0.0.1:8080": "", "[2001:db8::1]:80": "", "[fe80::1%eth0]:80": "", "a_b.c-d:1": "", "localhost:65535": "",
		":8080": "no host", "0.0.0.0:80": "server listens", "[::]:80": "server listens", "x:99999": "neither a number",
		"x:0": "neither a number", "x:": "neither a number", "x:http": "no number", "a b:80": "space", "u@x:80": "neither",
		"http://x:80": "too many colons", "x/y:80": "neither", "x": "not host:port",
	} {
		cfg := core.Config{LeaderID: "a", Decider: memory.NewDecider(), HostPort: []string{hostPort}}
		_, err := httpleader.New(cfg, &httpleader.Options{Forward: true})
		if says == "" && err != nil || says != "" && (!errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v, want %q", hostPort, err, says)
		}
		if _, err := httpleader.New(cfg, nil); err != nil {
			t.Errorf("%q without Forward: %v", hostPort, err)
		}
	}
}

// What would be ignored, or end every reign with its first term, is refused.
func TestRefusesWhatHasNoMeaningHere(t *testing.T) {
	for says, cfg := range map[string]core.Config{
		"nobody would renew": {ManualRenew: true}, "WaitAtMost is 1s": {WaitAtMost: time.Second},
	} {
		cfg.LeaderID, cfg.Decider = "a", memory.NewDecider()
		if _, err := httpleader.New(cfg, nil); !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
