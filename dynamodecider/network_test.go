package dynamodecider

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cloudelect/cloudelect/core"
)

// TestNoAnswer: whatever keeps the answer away, nothing is proved.
func TestNoAnswer(t *testing.T) {
	for name, failure := range map[string]error{
		"reset":          &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		"refused":        &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED},
		"no such host":   &net.DNSError{Err: "no such host", Name: "dynamodb.nowhere.amazonaws.com", IsNotFound: true},
		"host":           x509.HostnameError{Certificate: &x509.Certificate{}, Host: "dynamodb.eu-west-1.amazonaws.com"},
		"authority":      x509.UnknownAuthorityError{},
		"cut off":        io.ErrUnexpectedEOF,
		"something else": errors.New("something else"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := clientOver(transportFunc(func(*http.Request) (*http.Response, error) { return nil, failure }), "http://127.0.0.1:1")
			for _, op := range []operation{opRead, opWrite} {
				e, err := ask(context.Background(), NewDecider(client, testTable, testName, nil), op)
				checkOutcome(t, isUnknown, e, err)
				if !errors.Is(err, failure) && !strings.Contains(err.Error(), failure.Error()) {
					t.Errorf("the cause is lost: %v", err)
				}
			}
		})
	}
}

// causes are what a context may have been cancelled with: answers of a store
// included.
var causes = []error{errors.New("the term is over"), core.ErrBroken, &core.LostRaceError{}, fmt.Errorf("%w", core.ErrBadEntry)}

// TestHungServer: a call ends with its context, whatever the context ended with.
func TestHungServer(t *testing.T) {
	for _, op := range []operation{opRead, opWrite} {
		for _, cause := range causes {
			t.Run(op.String()+", "+cause.Error(), func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(context.Background())
				w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
					cancel(cause)
					<-r.Context().Done()
				})
				e, err := ask(ctx, w.decider(t), op)
				checkOutcome(t, isUnknown, e, err)
				if !errors.Is(err, context.Canceled) || errors.Is(err, cause) || !strings.Contains(err.Error(), cause.Error()) {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// TestAnswerAfterTheEnd: an answer that comes when the context has ended is not
// looked at.
func TestAnswerAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	failed := refusal("ConditionalCheckFailedException", "no")
	client := clientOver(transportFunc(func(r *http.Request) (*http.Response, error) {
		cancel()
		return &http.Response{StatusCode: 400, Header: http.Header{"Content-Type": {jsonType}}, Request: r, Body: io.NopCloser(strings.NewReader(failed))}, nil
	}), "http://127.0.0.1:1")
	e, err := ask(ctx, NewDecider(client, testTable, testName, nil), opWrite)
	checkOutcome(t, isUnknown, e, err)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestEndedContext sends nothing.
func TestEndedContext(t *testing.T) {
	w := newWire(t, saying(200, "{}"))
	for _, cause := range causes {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		for _, op := range []operation{opRead, opWrite} {
			e, err := ask(ctx, w.decider(t), op)
			checkOutcome(t, isUnknown, e, err)
			if !errors.Is(err, context.Canceled) || errors.Is(err, cause) {
				t.Errorf("%v", err)
			}
		}
	}
	late, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	if _, err := ask(late, w.decider(t), opWrite); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestNotSent: what the client finds wrong by itself.
func TestNotSent(t *testing.T) {
	unsent := transportFunc(func(*http.Request) (*http.Response, error) { t.Error("a request"); return nil, io.EOF })
	for _, c := range []struct {
		name   string
		change func(*dynamodb.Options)
		want   outcome
		says   string
	}{
		{"no region", func(o *dynamodb.Options) { o.Region, o.BaseEndpoint = "", nil }, isBroken, "AWS_REGION"},
		{"an endpoint that is none", func(o *dynamodb.Options) { o.BaseEndpoint = aws.String("http://[::1") }, isBroken, "endpoint"},
		{"no credentials", func(o *dynamodb.Options) { o.Credentials = failing{} }, isUnknown, "credentials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecider(clientOver(unsent, "http://127.0.0.1:1", c.change), testTable, testName, nil)
			for _, op := range []operation{opRead, opWrite} {
				e, err := ask(context.Background(), d, op)
				checkOutcome(t, c.want, e, err)
				if !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error does not mention %q: %v", c.says, err)
				}
			}
		})
	}
}

type failing struct{}

func (failing) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, errors.New("no EC2 IMDS role found")
}

// silent is a client that says nothing at all.
type silent struct{ API }

func (silent) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return nil, nil
}
func (silent) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return nil, nil
}

func TestSilentClient(t *testing.T) {
	for _, op := range []operation{opRead, opWrite} {
		e, err := ask(context.Background(), NewDecider(silent{}, testTable, testName, nil), op)
		checkOutcome(t, isUnknown, e, err)
	}
}
