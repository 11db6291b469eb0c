package netfault

import (
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// response is the answer as a RoundTripper returns it.
func (a *answer) response(r *http.Request) *http.Response {
	response := a.Response
	response.Request = r
	response.Body = io.NopCloser(bytes.NewReader(a.body))
	return response
}

// shiftDate adds d to the Date, if there is one.
func (a *answer) shiftDate(d time.Duration) {
	if d == 0 {
		return
	}
	if date, err := http.ParseTime(a.Header.Get("Date")); err == nil {
		a.Header.Set("Date", date.Add(d).UTC().Format(http.TimeFormat))
	}
}

// writeTo is the answer as a server gives it.
func (a *answer) writeTo(w http.ResponseWriter) {
	header := w.Header()
	for name, values := range a.Header {
		header[name] = values
	}
	dropHopByHop(header)
	if header["Date"] == nil {
		header["Date"] = nil // present but empty: else net/http adds this process's time
	}
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(a.body) // the client has gone: nobody is left to tell
}

// dropHopByHop removes what concerns one connection only (RFC 9110, 7.6.1).
func dropHopByHop(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(textproto.TrimString(name))
		}
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		h.Del(name)
	}
}
