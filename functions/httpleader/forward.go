package httpleader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// hopHeader marks a request that a follower has passed on.
const hopHeader = "X-Election-Forwarded"

type targetKey struct{}

func (e *Election) newProxy() http.Handler {
	transport := e.opts.Transport
	if transport == nil {
		own := &http.Transport{}
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			own = t.Clone()
		}
		own.Proxy = nil // the leader is a neighbour
		transport, e.idle = own, own.CloseIdleConnections
	}
	return &httputil.ReverseProxy{
		Transport: transport,
		ErrorLog:  e.errorLog(),
		Rewrite: func(p *httputil.ProxyRequest) {
			target, _ := p.In.Context().Value(targetKey{}).(*url.URL)
			p.SetURL(target)
			// The handler behind decides what it makes of a parameter, as if it had been
			// asked itself: ReverseProxy has dropped those that net/url does not parse.
			p.Out.URL.RawQuery = p.In.URL.RawQuery
			p.Out.Host = p.In.Host
			p.Out.Header["X-Forwarded-For"] = p.In.Header["X-Forwarded-For"]
			p.SetXForwarded()
			for _, h := range []string{"X-Forwarded-Host", "X-Forwarded-Proto"} {
				if said := p.In.Header.Get(h); said != "" { // by the load balancer before us
					p.Out.Header.Set(h, said)
				}
			}
			if said := p.In.Header.Values("Forwarded"); len(said) > 0 {
				p.Out.Header["Forwarded"] = append(slices.Clone(said), forwardedFor(p.In.RemoteAddr))
			}
			p.Out.Header.Set(hopHeader, "1")
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if cause := context.Cause(r.Context()); errors.Is(cause, errLeaderChanged) {
				err = cause
			}
			e.refuse(w, http.StatusBadGateway, fmt.Sprintf("the leader could not be asked: %s", e.forClient(err)))
		},
	}
}

// forwardedFor is what this hop adds to a header Forwarded (RFC 7239): whom the request
// came from, as X-Forwarded-For has it.
func forwardedFor(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	switch {
	case err != nil:
		return "for=unknown"
	case strings.Contains(host, ":"):
		return fmt.Sprintf(`for="[%s]"`, host)
	}
	return "for=" + host
}

// errorLog is where the proxy says that an answer broke off half way.
func (e *Election) errorLog() *log.Logger {
	if e.cfg.Logger == nil {
		return log.New(io.Discard, "", 0)
	}
	return slog.NewLogLogger(e.cfg.Logger.Handler(), slog.LevelWarn)
}

// forClient keeps addresses out of what strangers read.
func (e *Election) forClient(err error) string {
	switch {
	case errors.Is(err, errLeaderChanged):
		return "the leader has changed"
	case e.opts.HideLeader:
		return "no answer"
	}
	return err.Error()
}

// forward passes a request on to the leader. It goes to whom this process believes to
// lead; if that one does not lead any more, it says so itself, because the request
// is marked. The request is given up when another leader is seen.
func (e *Election) forward(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	v, leader := e.seen.entry, e.seen.leader
	e.mu.Unlock()
	if r.Header.Get(hopHeader) != "" {
		e.refuse(w, http.StatusServiceUnavailable, "this process does not lead, although another one has passed the request on to it")
		return
	}
	target, err := e.target(v)
	if err != nil {
		e.refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), targetKey{}, target))
	defer cancel(nil)
	stop := context.AfterFunc(leader, func() { cancel(errLeaderChanged) })
	defer stop()
	e.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// target is where v's leader is.
func (e *Election) target(v entry.RaceEntry) (*url.URL, error) {
	switch {
	case v.Vacant(), v.Held, v.LeaderID == e.cfg.LeaderID:
		return nil, errors.New("this process does not lead")
	case len(v.HostPort) == 0:
		return nil, errors.New("this process does not lead, and the leader has no address")
	}
	if forwardable(v.HostPort[0]) != nil {
		return nil, errors.New("this process does not lead, and the leader's address is none")
	}
	return &url.URL{Scheme: e.opts.Scheme, Host: v.HostPort[0]}, nil
}

// forwardable tells whether a URL can have hostPort in it: there a port is a number.
func forwardable(hostPort string) error {
	if err := core.ValidateHostPort(hostPort); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(hostPort)
	if err == nil && strings.Trim(port, "0123456789") != "" {
		err = fmt.Errorf("port %q is no number, which it has to be in a URL", port)
	}
	return err
}
