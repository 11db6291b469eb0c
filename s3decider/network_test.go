package s3decider

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

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
		"no such host":   &net.DNSError{Err: "no such host", Name: "s3.eu-west-1.amazonaws.com", IsNotFound: true},
		"authority":      x509.UnknownAuthorityError{},
		"something else": errors.New("something else"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			client := newTestClient(t, "https://s3.example.com", transportFunc(func(r *http.Request) (*http.Response, error) {
				sent++
				if r.Body != nil {
					r.Body.Close()
				}
				return nil, failure
			}), onlyOnce)
			for _, op := range []operation{read, create, overwrite} {
				sent = 0
				e, err := ask(NewDecider(client, testBucket, testKey, nil), op)
				checkOutcome(t, op, unknown, e, err)
				if !errors.Is(err, failure) && !strings.Contains(err.Error(), failure.Error()) {
					t.Errorf("the cause is lost: %v", err)
				}
				if sent != 1 {
					t.Errorf("%s was sent %d times", op, sent)
				}
			}
		})
	}
}

// TestVirtualHost: a bucket that was taken for a host name is a setting of the client.
func TestVirtualHost(t *testing.T) {
	client := newTestClient(t, "http://s3.example.com", transportFunc(func(r *http.Request) (*http.Response, error) {
		return nil, &net.DNSError{Err: "no such host", Name: r.URL.Hostname(), IsNotFound: true}
	}), onlyOnce, func(o *s3.Options) { o.UsePathStyle = false })
	e, err := ask(NewDecider(client, testBucket, testKey, nil), read)
	checkOutcome(t, read, unknown, e, err)
	if !strings.Contains(err.Error(), "UsePathStyle") {
		t.Errorf("%v", err)
	}
}

// noCredentials is a provider whose source has failed.
type noCredentials struct{}

func (noCredentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, errors.New("the metadata service does not answer")
}

// TestNothingSent: what the SDK refuses by itself is broken where only a person can
// mend it, and unknown where it may pass.
func TestNothingSent(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*s3.Options)
		want   outcome
		says   string
	}{
		{"no region", func(o *s3.Options) { o.Region, o.BaseEndpoint = "", nil }, broken, "region"},
		{"a region that is none", func(o *s3.Options) { o.Region, o.BaseEndpoint = "eu west 1", nil }, broken, "region"},
		{"an endpoint that is none", func(o *s3.Options) { o.BaseEndpoint = aws.String("not a url") }, broken, "endpoint"},
		{"no credentials", func(o *s3.Options) { o.Credentials = noCredentials{} }, unknown, "credentials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := newTestClient(t, "http://127.0.0.1:1", transportFunc(func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, errors.New("no")
			}), onlyOnce, c.change)
			for _, op := range []operation{read, create, overwrite} {
				e, err := ask(NewDecider(client, testBucket, testKey, nil), op)
				checkOutcome(t, op, c.want, e, err)
				if !strings.Contains(err.Error(), c.says) {
					t.Errorf("does not mention %q: %v", c.says, err)
				}
			}
		})
	}
}

// TestHungServer: a call ends with its context, even where no answer comes, and
// its error Is the context's and nothing else.
func TestHungServer(t *testing.T) {
	for _, op := range []operation{read, create, overwrite} {
		t.Run(op.String(), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			reason := errors.Join(errors.New("the term is over"), core.ErrBroken, &core.LostRaceError{})
			w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
				cancel(reason)
				<-r.Context().Done()
			})
			e, err := askContext(ctx, w.decider(t, nil), op)
			checkOutcome(t, op, unknown, e, err)
			if !errors.Is(err, context.Canceled) || errors.Is(err, core.ErrLostRace) || !strings.Contains(err.Error(), "the term is over") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestLateAnswer: an answer that comes as the context ends is not believed, since
// it may be the context's cause; a success is.
func TestLateAnswer(t *testing.T) {
	for _, op := range []operation{read, create, overwrite} {
		ctx, cancel := context.WithCancelCause(context.Background())
		client := newTestClient(t, "http://s3.example.com", transportFunc(func(r *http.Request) (*http.Response, error) {
			cancel(core.ErrBroken)
			return &http.Response{StatusCode: 403, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		}), onlyOnce)
		e, err := askContext(ctx, NewDecider(client, testBucket, testKey, nil), op)
		checkOutcome(t, op, unknown, e, err)
	}
}

// TestEndedContext sends nothing, and what ended the context is not mistaken for
// what the store said.
func TestEndedContext(t *testing.T) {
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(core.ErrBroken)
	late, cancelLate := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancelLate()
	w := newWire(t, stored(testETag, sampleBody(t)))
	for _, ctx := range []context.Context{ended, late} {
		for _, op := range []operation{read, create, overwrite} {
			e, err := askContext(ctx, w.decider(t, nil), op)
			checkOutcome(t, op, unknown, e, err)
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("%v", err)
			}
		}
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
