package netfault

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// SignatureTolerance is how far the time of a signature may be from the clock of
// an [AWSGate]. DynamoDB and most services refuse beyond five minutes
// ("Troubleshoot Signature Version 4 signing": "Signature expired"); S3 itself
// waits until fifteen.
const SignatureTolerance = 5 * time.Minute

// AWSGate is what stands before every AWS service and looks at the signature of
// a request before anything else does. It has a clock of its own, which the
// emulators behind it do not have:
//
//   - A signature that is more than [SignatureTolerance] off that clock is
//     refused: the service never sees the request.
//   - So is one with credentials that have expired.
//   - Every answer carries that clock's Date, from which a client can learn how
//     wrong its own clock is.
//
// It checks the time and the name of the key, never the signature itself, and
// lets unsigned requests pass. It answers as the service that the signature
// is meant for: DynamoDB in JSON, S3 in XML.
//
// It is a RoundTripper, to be put below a [Transport], which then counts and
// records the refusals like any answer of the server:
//
//	gate := netfault.NewAWSGate(base)
//	gate.SetClock(3 * time.Hour) // the client's host is three hours slow
//	transport, err := netfault.NewTransport(gate, nil)
//
// Its methods may be called from any goroutine.
type AWSGate struct {
	next http.RoundTripper

	mu      sync.Mutex
	ahead   time.Duration
	expired map[string]bool // access key IDs
}

// NewAWSGate puts a gate before next; nil: http.DefaultTransport. Its clock is
// this machine's, and no credentials have expired.
func NewAWSGate(next http.RoundTripper) *AWSGate {
	if next == nil {
		next = http.DefaultTransport
	}
	return &AWSGate{next: next, expired: map[string]bool{}}
}

// SetClock sets the service's clock ahead of this machine's; negative: behind.
// For the client it is as if its own host were as much slow, or fast.
func (g *AWSGate) SetClock(ahead time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ahead = ahead
}

// Now is the time by the service's clock.
func (g *AWSGate) Now() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Now().Add(g.ahead)
}

// Expire makes every request that is signed with that access key fail, as when a
// session has come to its end.
func (g *AWSGate) Expire(accessKeyID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expired[accessKeyID] = true
}

// Restore undoes Expire.
func (g *AWSGate) Restore(accessKeyID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.expired, accessKeyID)
}

func (g *AWSGate) hasExpired(accessKeyID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.expired[accessKeyID]
}

// RoundTrip refuses the request, or passes it on and dates the answer.
func (g *AWSGate) RoundTrip(r *http.Request) (*http.Response, error) {
	if refusal := g.refuse(r); refusal != nil {
		if r.Body != nil { // a RoundTripper takes the body, whatever comes of it
			_, err := io.Copy(io.Discard, r.Body)
			if err = errors.Join(err, r.Body.Close()); err != nil {
				return nil, err
			}
		}
		return refusal, nil
	}
	response, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.Header.Get("Date") != "" {
		response.Header.Set("Date", g.Now().UTC().Format(http.TimeFormat))
	}
	return response, nil
}

// CloseIdleConnections passes on http.Client's call of that name.
func (g *AWSGate) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// refuse is the answer to a request that does not get past the gate, or nil.
func (g *AWSGate) refuse(r *http.Request) *http.Response {
	key, service, signed := credentialOf(r)
	if !signed {
		return nil
	}
	if g.hasExpired(key) {
		return expiredAnswer(r, service, g.Now())
	}
	at, err := time.Parse(amzDate, r.Header.Get("X-Amz-Date"))
	if err != nil { // by RFC 9110's Date instead, or not at all: as it is
		return nil
	}
	if now := g.Now(); now.Sub(at).Abs() > SignatureTolerance {
		return skewedAnswer(r, service, at, now)
	}
	return nil
}

// amzDate is the format of X-Amz-Date.
const amzDate = "20060102T150405Z"

// credentialOf finds out who signed a request, and for which service:
//
//	Authorization: AWS4-HMAC-SHA256 Credential=KEY/20300102/eu-west-1/dynamodb/aws4_request, ...
func credentialOf(r *http.Request) (accessKeyID, service string, signed bool) {
	_, rest, ok := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !ok {
		return "", "", false
	}
	scope, _, _ := strings.Cut(rest, ",")
	parts := strings.Split(strings.TrimSpace(scope), "/")
	if len(parts) < 5 {
		return "", "", false
	}
	return strings.Join(parts[:len(parts)-4], "/"), parts[len(parts)-2], true
}
