package s3decider

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core/entry"
)

const (
	testBucket = "bucket-1"
	testKey    = "elections/a b+c"
	testETag   = `"9a0364b9e99bb480dd25e1f0284c8555"`
)

// wire is a server that answers as a test says and keeps what it was asked.
type wire struct {
	*httptest.Server
	mu       sync.Mutex
	requests []wireRequest
}

// wireRequest is one request as it arrived.
type wireRequest struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

func newWire(t testing.TB, answer http.HandlerFunc) *wire {
	t.Helper()
	w := &wire{}
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.mu.Lock()
		w.requests = append(w.requests, wireRequest{r.Method, r.URL.Path, r.URL.Query(), r.Header.Clone(), body})
		w.mu.Unlock()
		answer(rw, r)
	}))
	w.Start()
	t.Cleanup(w.Close)
	return w
}

func (w *wire) seen() []wireRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]wireRequest(nil), w.requests...)
}

// newTestClient points a client at an endpoint, over connections that end with the
// test. Its retries are quick.
func newTestClient(t interface{ Cleanup(func()) }, endpoint string, over http.RoundTripper, change ...func(*s3.Options)) *s3.Client {
	if over == nil {
		own := &http.Transport{}
		t.Cleanup(own.CloseIdleConnections)
		over = own
	}
	opts := s3.Options{
		BaseEndpoint: aws.String(endpoint), UsePathStyle: true, Region: "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider("KEY", "secret", ""),
		HTTPClient:  &http.Client{Transport: over},
	}
	return s3.New(opts, change...)
}

func (w *wire) decider(t testing.TB, opts *Options) *Decider {
	t.Helper()
	return NewDecider(newTestClient(t, w.URL, nil, onlyOnce), testBucket, testKey, opts)
}

// onlyOnce keeps tests of refusals from waiting for retries of reads.
func onlyOnce(o *s3.Options) { o.RetryMaxAttempts = 1 }

// sampleEntry is a valid entry that would be written over t.
func sampleEntry(t entry.LeaderToken) *entry.RaceEntry {
	return &entry.RaceEntry{
		LeaderID: "worker-1", HostPort: []string{"10.0.0.1:80"},
		TermExpiry: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), TermLength: 15 * time.Second,
		ElectionNumber: 7, FencingToken: 3, Nonce: "nonce-1", Token: t,
	}
}

func sampleBody(t testing.TB) []byte {
	t.Helper()
	body, err := entry.Encode(sampleEntry(nil))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// stored answers an upload, or a download with that content.
func stored(etag string, body []byte) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if etag != "" {
			rw.Header()["Etag"] = []string{etag}
		}
		if r.Method == http.MethodGet {
			rw.Header().Set("Last-Modified", "Wed, 02 Jan 2030 03:04:05 GMT")
			rw.Write(body)
		}
	}
}

// refusal answers with a status and a body, XML unless it is something else.
func refusal(status int, body string, header ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(body, "<?xml"):
			rw.Header().Set("Content-Type", "application/xml")
		case body == "":
			rw.Header()["Content-Type"] = nil
		}
		for i := 0; i+1 < len(header); i += 2 {
			rw.Header().Set(header[i], header[i+1])
		}
		rw.WriteHeader(status)
		io.WriteString(rw, body)
	}
}

// xmlError is the body of one of S3's errors.
func xmlError(code, message string) string {
	return fmt.Sprintf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>%s</Message><RequestId>1</RequestId></Error>", code, message)
}
