package netfault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
)

// Proxy is an injector before a server: a reverse proxy on a loopback port.
type Proxy struct {
	*Injector
	target *url.URL
	server *httptest.Server
	out    *http.Transport
	close  sync.Once
}

// Listen starts a proxy in front of target, a URL such as
// "http://127.0.0.1:4443". The caller ends it with [Proxy.Close].
func Listen(target string, opts *Options) (*Proxy, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("netfault: target %q: %w", target, err)
	}
	if (to.Scheme != "http" && to.Scheme != "https") || to.Host == "" || (to.Path != "" && to.Path != "/") {
		return nil, fmt.Errorf("netfault: target %q: give the root of a server, http://host:port, without a path", target)
	}
	injector, err := newInjector(opts)
	if err != nil {
		return nil, err
	}
	addr := ""
	if opts != nil {
		addr = opts.Addr
	}
	listener, err := listen(addr)
	if err != nil {
		return nil, err
	}
	p := &Proxy{Injector: injector, target: to, out: &http.Transport{
		DisableCompression:  true, // bodies pass as they are
		MaxIdleConnsPerHost: 64,
	}}
	p.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(p.serve)}}
	p.server.Start()
	return p, nil
}

// listen opens addr if, and only if, it is a loopback address.
func listen(addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("netfault: address %q: %w; give host:port", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("netfault: address %q is not a loopback address; the proxy must not be reachable from elsewhere: use 127.0.0.1, ::1 or localhost", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("netfault: listen on %s: %w", addr, err)
	}
	return listener, nil
}

// URL is the root of the proxy, "http://127.0.0.1:port", without a slash at the
// end: what a client is given in place of the server's.
func (p *Proxy) URL() string { return p.server.URL }

// Endpoint is the proxy's host:port, a value for STORAGE_EMULATOR_HOST.
func (p *Proxy) Endpoint() string { return p.server.Listener.Addr().String() }

// Close cuts off the requests that hang, are delayed or wait for the server, and
// returns when no goroutine of the proxy is left. It may be called more than once.
func (p *Proxy) Close() {
	p.close.Do(func() {
		p.shut()
		p.server.CloseClientConnections() // also those that never finish sending
		p.server.Close()
		p.out.CloseIdleConnections()
	})
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil { // it broke off while sending: the server gets nothing
		cut(w, false)
		return
	}
	record, met, err := p.admit(r)
	if err != nil {
		cut(w, false)
		return
	}
	defer p.active.Done()
	a, err := p.carry(r.Context(), record, met, func(ctx context.Context) (*answer, error) {
		return ask(p.out, p.outgoing(ctx, r), body)
	})
	switch {
	case err == nil:
		a.writeTo(w)
	case errors.Is(err, errReset):
		cut(w, true)
	case errors.Is(err, errLost), p.life.Err() != nil, r.Context().Err() != nil:
		cut(w, false)
	default: // an honest failure, and to be told from an injected one
		p.note(func() { record.Status = http.StatusBadGateway })
		http.Error(w, fmt.Sprintf("netfault: no answer from %s: %v", p.target, err), http.StatusBadGateway)
	}
}

// outgoing is the request as the server gets it.
func (p *Proxy) outgoing(ctx context.Context, r *http.Request) *http.Request {
	out := r.Clone(ctx)
	out.URL.Scheme, out.URL.Host = p.target.Scheme, p.target.Host
	out.Host, out.RequestURI, out.Close = p.target.Host, "", false
	dropHopByHop(out.Header)
	if out.Header.Get("X-Forwarded-Host") == "" {
		out.Header.Set("X-Forwarded-Host", r.Host)
	}
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = nil // else net/http adds its own
	}
	return out
}

// cut closes the client's connection without an answer; hard: with a TCP reset.
func cut(w http.ResponseWriter, hard bool) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's own way to do the same
	}
	if tcp, ok := connection.(*net.TCPConn); ok && hard {
		_ = tcp.SetLinger(0) // without it the client sees an orderly end
	}
	_ = connection.Close()
}
