package gcsdecider

import (
	"net/http"
	"sync"
	"sync/atomic"
)

// dateTransport notes the Date of answers, and leaves connections that have fallen
// silent. With HTTP/2 a request that is given up does not end its connection, so the
// next one would be sent on it too: after a freeze, or a lost route, a whole term
// would be spent on a connection that is dead. Google's transport asks by a ping, but
// only after 31 s.
type dateTransport struct {
	// again makes another transport like the first one, with no connection yet; nil
	// where there is no other.
	again func() http.RoundTripper

	mu   sync.Mutex
	base http.RoundTripper // nil: http.DefaultTransport, as http.Client has it

	silent atomic.Bool // a request was given up before it was answered
}

// RoundTrip does what the base does.
func (t *dateTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.silent.Swap(false) {
		t.reconnect()
	}
	resp, err := t.current().RoundTrip(r)
	if err != nil && r.Context().Err() != nil {
		t.silent.Store(true)
	}
	if n, ok := r.Context().Value(noteKey{}).(*dateNote); ok && err == nil {
		n.set(storeDate(resp.Header))
	}
	return resp, err
}

func (t *dateTransport) current() http.RoundTripper {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return http.DefaultTransport
	}
	return t.base
}

// reconnect sees to it that the next request has a connection of its own. Requests
// that are under way keep theirs.
func (t *dateTransport) reconnect() {
	t.CloseIdleConnections()
	if t.again == nil {
		return
	}
	if next := t.again(); next != nil {
		t.mu.Lock()
		t.base = next
		t.mu.Unlock()
	}
}

// CloseIdleConnections passes on what closing the client asks for. Not every
// transport listens: Google's does not.
func (t *dateTransport) CloseIdleConnections() {
	if c, ok := t.current().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
