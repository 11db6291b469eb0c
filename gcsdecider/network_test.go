package gcsdecider

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"cloud.google.com/go/auth"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/core"
)

// transportFunc is a network that fails in a chosen way.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestNoAnswer: whatever keeps the answer away, nothing is proved.
func TestNoAnswer(t *testing.T) {
	for name, failure := range map[string]error{
		"reset":          &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		"refused":        &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED},
		"no such host":   &net.DNSError{Err: "no such host", Name: "storage.googleapis.com", IsNotFound: true},
		"host":           x509.HostnameError{Certificate: &x509.Certificate{}, Host: "storage.googleapis.com"},
		"authority":      x509.UnknownAuthorityError{},
		"expired token":  &auth.Error{Response: &http.Response{StatusCode: 400}, Body: []byte(`{"error":"invalid_grant"}`)},
		"something else": errors.New("something else"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newTestClient(t, option.WithoutAuthentication(), option.WithHTTPClient(&http.Client{Transport: transportFunc(
				func(*http.Request) (*http.Response, error) { return nil, failure })}))
			for _, op := range []operation{read, create, overwrite} {
				e, err := ask(NewDecider(client, testBucket, testObject, nil), op)
				checkOutcome(t, op, unknown, e, err)
				if !errors.Is(err, failure) && !strings.Contains(err.Error(), failure.Error()) {
					t.Errorf("the cause is lost: %v", err)
				}
				if name == "expired token" && !strings.Contains(err.Error(), "credentials") {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// TestHungServer: a call ends with its context, even where no answer comes.
func TestHungServer(t *testing.T) {
	for _, op := range []operation{read, create, overwrite} {
		t.Run(op.String(), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			reason := errors.New("the term is over")
			w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
				cancel(reason)
				<-r.Context().Done()
			})
			d := w.decider(t, nil)
			var err error
			if op == read {
				_, err = d.ReadCurrent(ctx)
			} else {
				_, err = d.WriteEntry(ctx, sampleEntry(&Token{generation: int64(op-create) * 41}))
			}
			checkOutcome(t, op, unknown, nil, err)
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), reason.Error()) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestEndedContext sends nothing, and what ended the context is not mistaken for
// what the store said.
func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(core.ErrBroken)
	w := newWire(t, stored(1, "2025-01-02T03:04:06Z"))
	d := w.decider(t, nil)
	_, readErr := d.ReadCurrent(ctx)
	_, writeErr := d.WriteEntry(ctx, sampleEntry(&Token{}))
	for op, err := range map[operation]error{read: readErr, create: writeErr} {
		checkOutcome(t, op, unknown, nil, err)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestEarlyRefusal: an answer that comes before the body was read is believed,
// and the write does not wait for a reader.
func TestEarlyRefusal(t *testing.T) {
	client := newTestClient(t, option.WithoutAuthentication(), option.WithHTTPClient(&http.Client{Transport: transportFunc(
		func(r *http.Request) (*http.Response, error) {
			r.Body.Close()
			return &http.Response{StatusCode: 412, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})}))
	e, err := ask(NewDecider(client, testBucket, testObject, nil), overwrite)
	checkOutcome(t, overwrite, lost, e, err)
}
