package statuscmd

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/netfault"
	"github.com/cloudelect/cloudelect/emulators/s3"
)

// gated is the address of a store behind a gate whose clock is ahead of this host's, and
// how many requests it has refused for that.
func gated(t *testing.T, root string, ahead time.Duration) (address string, refused *atomic.Int32) {
	t.Helper()
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	gate := netfault.NewAWSGate(base)
	gate.SetClock(ahead)
	to, err := url.Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	refused = new(atomic.Int32)
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: gate,
		ModifyResponse: func(r *http.Response) error {
			if r.Header.Get("Date") != "" && (r.StatusCode == http.StatusForbidden || r.StatusCode == http.StatusBadRequest) {
				refused.Add(1)
			}
			return nil
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL, refused
}

// TestRefusedSignature: AWS refuses what was signed by a clock that is hours off. The SDK
// learns the time from that, and status tells of the clock instead of failing.
func TestRefusedSignature(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1", "AWS_PROFILE": "", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
	keys, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(keys.Close)
	tables, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tables.Close)
	for scheme, root := range map[string]string{"s3": keys.URL(), "dynamodb": tables.URL()} {
		for ahead, says := range map[time.Duration]string{
			3 * time.Hour:  "this host's clock is behind the store's by at least ",
			-5 * time.Hour: "this host's clock is ahead of the store's by at least ",
		} {
			address, refused := gated(t, root, ahead)
			var out bytes.Buffer
			cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
			cmd.SetArgs([]string{"--store", scheme + "://elections/x?endpoint=" + address, "--json", "--timeout", "1m"})
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.ExecuteContext(t.Context())
			var st State
			if jerr := json.Unmarshal(out.Bytes(), &st); err != nil || jerr != nil {
				t.Errorf("%s, %v: %v, printed %s", scheme, ahead, err, out.String())
				continue
			}
			if st.State != Absent || refused.Load() != 1 || !strings.HasPrefix(st.ClockWarning, says) ||
				!strings.Contains(st.ClockWarning, "AWS refuses the first request of every program here") {
				t.Errorf("%s, %v: %d refused, %+v; want one, and a warning like %q", scheme, ahead, refused.Load(), st, says)
			}
			if off := time.Duration(*st.ClockOffsetMS)*time.Millisecond + ahead; off.Abs() > time.Minute {
				t.Errorf("%s, %v: clock_offset_ms %d", scheme, ahead, *st.ClockOffsetMS)
			}
		}
	}
}
