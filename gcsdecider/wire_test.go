package gcsdecider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/core/entry"
)

const (
	testBucket = "bucket-1"
	testObject = "elections/a b+c"
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
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.mu.Lock()
		w.requests = append(w.requests, wireRequest{r.Method, r.URL.Path, r.URL.Query(), r.Header.Clone(), body})
		w.mu.Unlock()
		answer(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *wire) seen() []wireRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]wireRequest(nil), w.requests...)
}

// options point a client at the server, without credentials, over connections
// that end with the test.
func (w *wire) options(t testing.TB) []option.ClientOption {
	t.Helper()
	return endpointOptions(t, w.URL)
}

func endpointOptions(t testing.TB, root string) []option.ClientOption {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return []option.ClientOption{
		option.WithEndpoint(root + "/storage/v1/"),
		option.WithoutAuthentication(),
		option.WithHTTPClient(&http.Client{Transport: transport}),
	}
}

// newTestClient is NewClient for a test.
func newTestClient(t testing.TB, opts ...option.ClientOption) *storage.Client {
	t.Helper()
	client, err := NewClient(context.Background(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func (w *wire) decider(t testing.TB, opts *Options) *Decider {
	t.Helper()
	return NewDecider(newTestClient(t, w.options(t)...), testBucket, testObject, opts)
}

// sampleEntry is a valid entry that would be written over t.
func sampleEntry(t entry.LeaderToken) *entry.RaceEntry {
	return &entry.RaceEntry{
		LeaderID: "worker-1", HostPort: []string{"10.0.0.1:80"},
		TermExpiry: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), TermLength: 15 * time.Second,
		ElectionNumber: 7, FencingToken: 3, Nonce: "nonce-1", Token: t,
	}
}

// stored answers an upload with what was stored under that generation.
func stored(generation int64, updated string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		// As the service does: the client waits for ever to get rid of a body that
		// was answered with yes before it was read.
		io.Copy(io.Discard, r.Body)
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"kind":"storage#object","name":%q,"bucket":%q,"generation":"%d","timeCreated":%q,"updated":%q}`,
			testObject, testBucket, generation, updated, updated)
	}
}

// content answers a download.
func content(generation string, body []byte) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if generation != "" {
			rw.Header().Set("X-Goog-Generation", generation)
		}
		rw.Header().Set("Last-Modified", "Wed, 02 Jan 2030 03:04:05 GMT")
		rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
		rw.Write(body)
	}
}

// refusal answers with a status and a body.
func refusal(status int, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(body, "{") {
			rw.Header().Set("Content-Type", "application/json; charset=UTF-8")
		}
		rw.WriteHeader(status)
		io.WriteString(rw, body)
	}
}

// apiError is the body of a JSON API error.
func apiError(code int, reason, message string) string {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{
		"code": code, "message": message,
		"errors": []any{map[string]any{"domain": "global", "reason": reason, "message": message}},
	}})
	return string(b)
}

// parts are the metadata and the content of a multipart upload.
func parts(t testing.TB, r wireRequest) (metadata map[string]any, content []byte, contentType string) {
	t.Helper()
	_, params, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	mr := multipart.NewReader(bytes.NewReader(r.body), params["boundary"])
	first, err := mr.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(first).Decode(&metadata); err != nil {
		t.Fatal(err)
	}
	second, err := mr.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	content, err = io.ReadAll(second)
	if err != nil {
		t.Fatal(err)
	}
	return metadata, content, second.Header.Get("Content-Type")
}
