package badstore

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// message is a request that can be sent again.
type message struct {
	method string
	url    url.URL // with the target's host
	header http.Header
	body   []byte
}

// answer is a response that is there in full.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask sends the message to the good store.
func (p *Proxy) ask(ctx context.Context, m *message) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, m.method, m.url.String(), bytes.NewReader(m.body))
	if err != nil {
		return nil, err
	}
	r.Header = m.header.Clone()
	r.Header.Del("Connection")
	resp, err := p.out.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	a := &answer{status: resp.StatusCode, header: resp.Header.Clone(), body: body}
	a.header.Del("Connection")
	if m.method != http.MethodHead {
		a.resize()
	}
	return a, nil
}

// resize corrects what the header says of the body.
func (a *answer) resize() {
	a.header.Del("Transfer-Encoding")
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
}

// made is an answer of the proxy's own.
func made(status int, contentType, body string) *answer {
	a := &answer{status: status, header: http.Header{"Content-Type": {contentType}}, body: []byte(body)}
	a.resize()
	return a
}
