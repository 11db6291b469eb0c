package badstore

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
)

// Proxy is a bad store on a loopback port.
type Proxy struct {
	target  *url.URL
	speech  speech
	mistake Mistake
	server  *httptest.Server
	out     *http.Transport
	close   sync.Once

	mu       sync.Mutex
	requests []Request
	cached   map[string]*answer // by key
	underWay map[string]int     // writers by key and condition
	met      map[string]int     // and how often they were more than one
}

// Request is one request that has arrived.
type Request struct {
	Kind   Kind
	Key    string // of the record that it is about
	Method string
	Path   string // decoded
	Status int    // what it was answered; 0: nothing yet
}

// Listen starts a bad store in front of target, the root of a good one
// ("http://127.0.0.1:4443"). The caller ends it with [Proxy.Close].
func Listen(target string, dialect Dialect, mistake Mistake) (*Proxy, error) {
	to, err := url.Parse(target)
	if err != nil || to.Scheme != "http" || to.Host == "" || to.Path != "" && to.Path != "/" {
		return nil, fmt.Errorf("badstore: target %q: give the root of a server, http://host:port", target)
	}
	if dialect.speech() == nil || !mistake.valid() {
		return nil, fmt.Errorf("badstore: there is no %v with %v: use the constants of this package", dialect, mistake)
	}
	p := &Proxy{
		target: to, speech: dialect.speech(), mistake: mistake,
		out:    &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		cached: map[string]*answer{}, underWay: map[string]int{}, met: map[string]int{},
	}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	return p, nil
}

// URL is the root of the proxy, "http://127.0.0.1:port", without a slash at the end.
func (p *Proxy) URL() string { return p.server.URL }

// Endpoint is the proxy's host:port.
func (p *Proxy) Endpoint() string { return p.server.Listener.Addr().String() }

// Requests returns what was asked for so far, in the order of arrival.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Close closes every connection and returns when no goroutine of the proxy is left.
// It may be called more than once.
func (p *Proxy) Close() {
	p.close.Do(func() {
		p.server.CloseClientConnections()
		p.server.Close()
		p.out.CloseIdleConnections()
	})
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender has gone
	}
	m := &message{method: r.Method, url: *r.URL, header: r.Header.Clone(), body: body}
	m.url.Scheme, m.url.Host = p.target.Scheme, p.target.Host
	if m.header.Get("X-Forwarded-Host") == "" {
		m.header.Set("X-Forwarded-Host", r.Host)
	}
	c := p.speech.understand(m)
	p.mu.Lock()
	n := len(p.requests)
	p.requests = append(p.requests, Request{Kind: c.kind, Key: c.key, Method: r.Method, Path: r.URL.Path})
	p.mu.Unlock()

	a, err := p.answer(r.Context(), c, m)
	if err != nil {
		a = &answer{status: http.StatusBadGateway, header: http.Header{}, body: []byte("badstore: " + err.Error())}
	}
	p.mu.Lock()
	p.requests[n].Status = a.status
	p.mu.Unlock()
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client has gone: nobody is left to tell
}
