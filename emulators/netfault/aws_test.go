package netfault_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// askGate sends a request that is signed with a key, for a service, at a time.
func askGate(t *testing.T, over http.RoundTripper, root, method, service string, at time.Time) reply {
	t.Helper()
	r, err := http.NewRequest(method, root+"/o", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	if service != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=KEY/20300102/eu-west-1/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
		r.Header.Set("X-Amz-Date", at.UTC().Format("20060102T150405Z"))
	}
	response, err := over.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, string(body), response.Header, nil}
}

func TestAWSGate(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		name, method, service string
		ahead, signed         time.Duration // of this host's clock
		expired               bool
		status                int
		says                  string
	}{
		{name: "a right clock", method: "POST", service: "dynamodb", status: 200, says: "echo body"},
		{name: "within the tolerance", method: "POST", service: "dynamodb", signed: 4 * time.Minute, status: 200, says: "echo body"},
		{name: "a slow host", method: "POST", service: "dynamodb", ahead: 3 * hour, status: 400, says: `InvalidSignatureException","message":"Signature expired: `},
		{name: "a fast host", method: "POST", service: "dynamodb", ahead: -hour, status: 400, says: "Signature not yet current: "},
		{name: "a host that has learned", method: "POST", service: "dynamodb", ahead: 3 * hour, signed: 3 * hour, status: 200, says: "echo body"},
		{name: "a slow host, S3", method: "PUT", service: "s3", ahead: 3 * hour, status: 403, says: "<Code>RequestTimeTooSkewed</Code>"},
		{name: "a slow host, S3, HEAD", method: "HEAD", service: "s3", ahead: 3 * hour, status: 403},
		{name: "expired credentials", method: "POST", service: "dynamodb", expired: true, status: 400, says: "ExpiredTokenException"},
		{name: "expired credentials, S3", method: "PUT", service: "s3", expired: true, status: 400, says: "<Code>ExpiredToken</Code>"},
		{name: "unsigned", method: "PUT", ahead: 3 * hour, expired: true, status: 200, says: "echo body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			backend, base := newBackend(t), &http.Transport{}
			gate := netfault.NewAWSGate(base)
			t.Cleanup(gate.CloseIdleConnections)
			gate.SetClock(c.ahead)
			if c.expired {
				gate.Expire("KEY")
			}
			got := askGate(t, gate, backend.URL, c.method, c.service, time.Now().Add(c.signed))
			if got.status != c.status || !strings.Contains(got.body, c.says) || (c.method == "HEAD" && got.body != "") {
				t.Errorf("answer %d %s", got.status, got.body)
			}
			date, err := http.ParseTime(got.header.Get("Date"))
			if err != nil || gate.Now().Sub(date).Abs() > time.Minute {
				t.Errorf("Date %q (%v), and the clock shows %v", got.header.Get("Date"), err, gate.Now())
			}
			if passed := len(backend.seen()) == 1; passed != (c.status == 200) {
				t.Errorf("the service saw %q", backend.seen())
			}
			gate.Restore("KEY")
			gate.SetClock(0)
			if got := askGate(t, gate, backend.URL, "PUT", "s3", time.Now()); got.status != 200 {
				t.Errorf("once all is well again: %d %s", got.status, got.body)
			}
		})
	}
}
