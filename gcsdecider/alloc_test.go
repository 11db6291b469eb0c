package gcsdecider

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"

	"google.golang.org/api/option"
)

// maxBytesPerRenewal is what one renewal may allocate; the client's default of
// 16 MiB for every upload is what this watches for. A server in the same process
// allocates its share, and the race detector makes pools forget.
const (
	maxBytesPerRenewal = 100_000
	maxServersShare    = 50_000
)

// inProcess is a store without a server, so that nothing but the client
// allocates: it accepts every upload.
func inProcess() http.RoundTripper {
	generation := int64(42)
	return transportFunc(func(r *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
		generation++
		body := `{"generation":"` + strconv.FormatInt(generation, 10) + `","updated":"2025-01-02T03:04:06Z"}`
		return &http.Response{
			StatusCode: 200, Request: r, Header: http.Header{"Date": {"Wed, 02 Jan 2030 03:04:05 GMT"}},
			Body: io.NopCloser(bytes.NewBufferString(body)), ContentLength: int64(len(body)),
		}, nil
	})
}

// renewals returns a function that renews once.
func renewals(t testing.TB, opts ...option.ClientOption) func() {
	d := NewDecider(newTestClient(t, opts...), testBucket, testObject, nil)
	e := sampleEntry(&Token{generation: 42})
	e.Checkpoint = make([]byte, 1024)
	return func() {
		token, err := d.WriteEntry(context.Background(), e)
		if err != nil {
			t.Fatal(err)
		}
		e.Token = token
	}
}

// bytesPerCall is what a call allocates, on average, in all goroutines.
func bytesPerCall(call func()) uint64 {
	const calls = 50
	call() // what is allocated once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / calls
}

func TestRenewalAllocations(t *testing.T) {
	renew := renewals(t, option.WithoutAuthentication(), option.WithHTTPClient(&http.Client{Transport: inProcess()}))
	if n := bytesPerCall(renew); n > maxBytesPerRenewal {
		t.Errorf("a renewal allocates %d bytes in the client, more than %d", n, maxBytesPerRenewal)
	} else {
		t.Logf("a renewal allocates %d bytes in the client", n)
	}

	// Over a socket, the server's share included.
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		stored(43, "2025-01-02T03:04:06Z")(rw, r)
	}))
	defer server.Close()
	renew = renewals(t, endpointOptions(t, server.URL)...)
	if n := bytesPerCall(renew); n > maxBytesPerRenewal+maxServersShare {
		t.Errorf("a renewal allocates %d bytes with a server, more than %d", n, maxBytesPerRenewal+maxServersShare)
	} else {
		t.Logf("a renewal allocates %d bytes with a server in the same process", n)
	}
}

func BenchmarkRenewal(b *testing.B) {
	renew := renewals(b, option.WithoutAuthentication(), option.WithHTTPClient(&http.Client{Transport: inProcess()}))
	b.ReportAllocs()
	for b.Loop() {
		renew()
	}
}
