package gcsdecider

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"google.golang.org/api/option"
	htransport "google.golang.org/api/transport/http"

	"github.com/cloudelect/cloudelect/core"
)

// dyingConns are the connections of a client. Those that died say nothing any more,
// and nothing that is sent on them arrives.
type dyingConns struct {
	mu   sync.Mutex
	dead map[net.Conn]bool
}

type dyingConn struct {
	net.Conn
	of *dyingConns
}

func (c dyingConn) Write(b []byte) (int, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.dead[c.Conn] {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (d *dyingConns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead[c] = false
	return dyingConn{c, d}, nil
}

func (d *dyingConns) die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.dead {
		d.dead[c] = true
	}
}

// deaf is a transport that does not pass on CloseIdleConnections, as Google's.
type deaf struct{ http.RoundTripper }

// ConductorOne/baton-sdk#1007: a connection of HTTP/2 died in a freeze, and every
// request until a ping found out was sent on it. One may find out; the next is
// sent on another connection.
func TestPitfall_DeadHTTP2Connection(t *testing.T) {
	ways := map[string]func(newTransport func() http.RoundTripper) *dateTransport{
		"closed": func(newTransport func() http.RoundTripper) *dateTransport {
			return &dateTransport{base: newTransport()}
		},
		"left": func(newTransport func() http.RoundTripper) *dateTransport {
			another := func() http.RoundTripper { return deaf{newTransport()} }
			return &dateTransport{base: another(), again: another}
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(stored(7, "2025-01-02T03:04:06.000Z"))
			server.EnableHTTP2 = true
			server.StartTLS()
			t.Cleanup(server.Close)
			conns := &dyingConns{dead: map[net.Conn]bool{}}
			transport := way(func() http.RoundTripper {
				tr := server.Client().Transport.(*http.Transport).Clone()
				tr.ForceAttemptHTTP2, tr.DialContext = true, conns.dial
				t.Cleanup(tr.CloseIdleConnections)
				return tr
			})
			client := newTestClient(t, option.WithEndpoint(server.URL+"/storage/v1/"), option.WithoutAuthentication(),
				option.WithHTTPClient(&http.Client{Transport: transport}))
			d := NewDecider(client, testBucket, testObject, nil)

			_, err := d.WriteEntry(t.Context(), sampleEntry(&Token{}))
			must(t, err)
			conns.die()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if _, err := d.WriteEntry(ctx, sampleEntry(&Token{})); err == nil || errors.Is(err, core.ErrBroken) || errors.Is(err, core.ErrLostRace) {
				t.Errorf("a write on a dead connection: %v, want unknown", err)
			}
			ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if _, err := d.WriteEntry(ctx, sampleEntry(&Token{})); err != nil {
				t.Errorf("the next write was sent on the same connection: %v", err)
			}
		})
	}
}

// Google's own transport can be made again; a client of the caller's cannot.
func TestPitfall_DeadHTTP2ConnectionOfNewClient(t *testing.T) {
	own := &http.Client{Transport: &http.Transport{}}
	for name, opts := range map[string][]option.ClientOption{
		"Google's":     nil,
		"the caller's": {option.WithHTTPClient(own)},
	} {
		t.Run(name, func(t *testing.T) {
			opts = transportOptions(append(opts, option.WithoutAuthentication()))
			hc, _, err := htransport.NewClient(t.Context(), opts...)
			must(t, err)
			if next := anotherLike(t.Context(), hc, opts)(); (next == nil) != (name == "the caller's") || next == hc.Transport {
				t.Errorf("another transport: %v", next)
			}
		})
	}
}
