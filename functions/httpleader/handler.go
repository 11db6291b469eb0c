package httpleader

import (
	"net/http"
	"strconv"
	"time"
)

// LeaderHeader is the header of a follower's answer that has the leader's first
// HostPort in it.
const LeaderHeader = "X-Election-Leader"

// problem is a follower's answer, in the form of RFC 9457.
type problem struct {
	Title    string   `json:"title"`
	Status   int      `json:"status"`
	Detail   string   `json:"detail"`
	Leader   string   `json:"leader,omitempty"`
	HostPort []string `json:"host_port,omitempty"`
}

// Handler lets requests through to next while this process leads. Their context ends with
// the reign, with its cause, and belongs to its Leadership (core.FromContext).
//
// Otherwise they are passed on to the leader (Options.Forward) or answered with
//
//   - 503, a Retry-After in seconds, and the leader's address in LeaderHeader and in
//     a JSON body (application/problem+json), if there is a leader and it has one;
//   - 502 when the leader could not be reached, or another one came meanwhile.
//
// Retry-After is when another process can lead at the latest news: when the
// leader's term is over, or at the next poll where nobody leads.
//
// A nil next is a mistake: every request is answered with 500 and the reason, on
// followers, too, and Handler logs it (the Config's Logger), once.
func (e *Election) Handler(next http.Handler) http.Handler {
	if isNil(next) {
		const fault = "httpleader: Handler was given no handler for what the leader serves"
		if l := e.cfg.Logger; l != nil {
			l.Error(fault)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, fault, http.StatusInternalServerError)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l := e.enter(); l != nil {
			defer l.serving.Done()
			ctx, release := l.Bind(r.Context())
			defer release()
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		if e.opts.Forward {
			e.forward(w, r)
			return
		}
		e.refuse(w, http.StatusServiceUnavailable, "this process does not lead")
	})
}

// refuse answers for a process that does not lead.
func (e *Election) refuse(w http.ResponseWriter, status int, detail string) {
	now := e.clock.Now()
	e.mu.Lock()
	v, left := e.seen.entry, e.seen.left(now)
	e.mu.Unlock()
	p := problem{Title: http.StatusText(status), Status: status, Detail: detail}
	switch {
	case v.Vacant():
		p.Detail += ", and nobody else is known to"
		left = pollInterval(e.cfg)
	case !v.Held && v.LeaderID != e.cfg.LeaderID && !e.opts.HideLeader:
		p.Leader, p.HostPort = v.LeaderID, v.HostPort
		if len(v.HostPort) > 0 {
			w.Header().Set(LeaderHeader, v.HostPort[0])
		}
	}
	w.Header().Set("Retry-After", seconds(left))
	writeJSON(w, status, "application/problem+json", p)
}

// seconds is d as Retry-After has it: whole, rounded up, at least one, an hour at most.
func seconds(d time.Duration) string {
	d = min(max(d, time.Second), time.Hour)
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// isNil finds the two ways to write no handler.
func isNil(h http.Handler) bool {
	f, isFunc := h.(http.HandlerFunc)
	return h == nil || isFunc && f == nil
}
