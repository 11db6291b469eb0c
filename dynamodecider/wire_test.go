package dynamodecider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

const (
	testTable = "elections"
	testName  = "nightly/a b+c"
	jsonType  = "application/x-amz-json-1.0"
)

// storeTime is the clock of the servers here, far from this machine's: whoever
// invents a time is found out.
var storeTime = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// wire is a server that answers as a test says and keeps what it was asked.
type wire struct {
	*httptest.Server
	mu       sync.Mutex
	requests []wireRequest
}

// wireRequest is one request as it arrived.
type wireRequest struct {
	operation string
	header    http.Header
	body      map[string]any
}

func newWire(t testing.TB, answer http.HandlerFunc) *wire {
	t.Helper()
	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("request %q: %v", raw, err)
		}
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		w.mu.Lock()
		w.requests = append(w.requests, wireRequest{operation, r.Header.Clone(), body})
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

// client is an SDK client whose connections end with the test, and which does not
// retry: reads would wait.
func (w *wire) client(t testing.TB, more ...func(*dynamodb.Options)) *dynamodb.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return clientOver(&http.Client{Transport: transport}, w.URL, more...)
}

func clientOver(over dynamodb.HTTPClient, root string, more ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "eu-west-1",
		BaseEndpoint: &root,
		Credentials:  credentials.NewStaticCredentialsProvider("KEY", "secret", ""),
		HTTPClient:   over,
		Retryer:      aws.NopRetryer{},
	}, more...)
}

func (w *wire) decider(t testing.TB) *Decider {
	t.Helper()
	return NewDecider(w.client(t), testTable, testName, nil)
}

// sampleEntry is a valid entry that would be written over t.
func sampleEntry(t entry.LeaderToken) *entry.RaceEntry {
	return &entry.RaceEntry{
		LeaderID: "worker-1", HostPort: []string{"10.0.0.1:80"},
		TermExpiry: time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC), TermLength: 15 * time.Second,
		ElectionNumber: 7, FencingToken: 3, Nonce: "nonce-1", Token: t,
	}
}

// sampleItem is sampleEntry as DynamoDB's JSON.
const sampleItem = `{"election":{"S":"nightly/a b+c"},"cloudelect":{"N":"1"},"leader_id":{"S":"worker-1"},
	"host_port":{"L":[{"S":"10.0.0.1:80"}]},"term_expiry":{"S":"2030-01-02T03:04:05.000000006Z"},"term_length":{"S":"15s"},
	"election_number":{"N":"7"},"fencing_token":{"N":"3"},"nonce":{"S":"nonce-1"}}`

// saying answers with a status and a body.
func saying(status int, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Date", storeTime.Format(http.TimeFormat))
		if strings.HasPrefix(body, "{") {
			rw.Header().Set("Content-Type", jsonType)
		} else {
			rw.Header().Set("Content-Type", "text/html")
		}
		rw.WriteHeader(status)
		io.WriteString(rw, body)
	}
}

// refusal is the body of DynamoDB's errors.
func refusal(code, message string) string {
	prefix := "com.amazonaws.dynamodb.v20120810#"
	switch code {
	case "InvalidSignatureException", "ExpiredTokenException", "AccessDeniedException", "UnrecognizedClientException",
		"UnknownOperationException", "SerializationException", "MissingAuthenticationTokenException", "ValidationException":
		prefix = "com.amazon.coral.service#"
	}
	b, _ := json.Marshal(map[string]string{"__type": prefix + code, "message": message})
	return string(b)
}

// ask performs one operation. Writes are on a version.
func ask(ctx context.Context, d *Decider, op operation) (*entry.RaceEntry, error) {
	if op == opRead {
		return d.ReadCurrent(ctx)
	}
	_, err := d.WriteEntry(ctx, sampleEntry(nonceToken("nonce-0", time.Time{})))
	return nil, err
}

// checkOutcome compares an error with the outcome that the contract asks for.
func checkOutcome(t *testing.T, want outcome, e *entry.RaceEntry, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", outcomeName(want))
	}
	if e != nil {
		t.Errorf("an entry beside %v", err)
	}
	var failed core.FailedAcquisitionErr
	got := isUnknown
	if errors.As(err, &failed) {
		got = isLost
	}
	if errors.Is(err, core.ErrBroken) {
		if got == isLost {
			t.Errorf("both lost and broken: %v", err)
		}
		got = isBroken
	}
	if got != want {
		t.Errorf("%s, want %s: %v", outcomeName(got), outcomeName(want), err)
	}
	if !strings.Contains(err.Error(), "dynamodb://elections/nightly") {
		t.Errorf("the error does not name the election: %v", err)
	}
}

func outcomeName(o outcome) string { return [...]string{"unknown", "lost", "broken"}[o] }

// transportFunc is a network that fails in a chosen way.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }
