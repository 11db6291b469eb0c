package httpleader

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// State is what a process knows of the election. Its names are those of
// "elect status --json"; fields are added, never renamed.
type State struct {
	// Candidate is this process's LeaderID, and Leading tells whether it leads.
	Candidate string `json:"candidate"`
	Leading   bool   `json:"leading"`
	// State is leading, expired, held, vacant, absent or bad, as "elect status" has them,
	// or unknown when the store has not answered for FollowerStale, or never.
	State          string   `json:"state"`
	LeaderID       string   `json:"leader_id,omitempty"`
	HostPort       []string `json:"host_port,omitempty"`
	FencingToken   int64    `json:"fencing_token"`
	ElectionNumber int64    `json:"election_number"`
	TermMS         int64    `json:"term_ms,omitempty"`
	// TimeLeftMS is what the leader's term has left by this process's clocks, in
	// milliseconds, if nothing was written since it last looked.
	TimeLeftMS int64 `json:"time_left_ms"`
	// LastReadMS is how long ago the store last answered, in milliseconds.
	LastReadMS int64 `json:"last_read_ms"`
	// Healthy is what HealthHandler says, and Problem why it is not.
	Healthy bool   `json:"healthy"`
	Problem string `json:"problem,omitempty"`
	// Error is what the store said to the latest request, if that failed.
	Error string `json:"error,omitempty"`
}

// State returns what is known now. It asks nobody.
func (e *Election) State() State {
	now := e.clock.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.seen
	v, r := s.entry, e.reign
	leading := r != nil && r.Check() == nil
	if leading {
		v = r.Entry()
	}
	st := State{
		Candidate: e.cfg.LeaderID, Leading: leading,
		LeaderID: v.LeaderID, HostPort: v.HostPort, FencingToken: v.FencingToken,
		ElectionNumber: int64(v.ElectionNumber), TermMS: v.TermLength.Milliseconds(),
		TimeLeftMS: s.left(now).Milliseconds(), LastReadMS: now.Sub(s.answered).Milliseconds(),
	}
	if s.err != nil {
		st.Error = s.err.Error()
	}
	if leading {
		st.TimeLeftMS = r.TimeLeft().Milliseconds()
	}
	st.Problem = e.problem(now, leading)
	st.Healthy = st.Problem == ""
	switch {
	case leading:
		st.State = "leading"
	case !s.known || now.Sub(s.answered) > e.opts.FollowerStale:
		st.State = "unknown"
	case s.bad:
		st.State = "bad"
	case v.Absent():
		st.State = "absent"
	case v.Vacant():
		st.State = "vacant"
	case st.TimeLeftMS <= 0:
		st.State = "expired"
	case v.Held:
		st.State = "held"
	default:
		st.State = "leading"
	}
	return st
}

// problem is what keeps this process from being healthy; e.mu is held.
func (e *Election) problem(now time.Time, leading bool) string {
	if e.ended != nil {
		return fmt.Sprintf("the election has ended: %v", e.ended)
	}
	if leading {
		if age := termLength(e.cfg) - e.reign.TimeLeft(); age > e.opts.LeaderStale {
			return fmt.Sprintf("leading, and not renewed for %v%s", age.Round(time.Millisecond), said(e.seen.err))
		}
		return ""
	}
	if age := now.Sub(e.seen.answered); age > e.opts.FollowerStale {
		return fmt.Sprintf("following, and no answer from the store for %v%s", age.Round(time.Millisecond), said(e.seen.err))
	}
	return ""
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("; the store's last answer: %v", err)
}

// StateHandler answers with the State as JSON. It names the leader and its
// address: keep it from strangers.
func (e *Election) StateHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, "application/json", e.State())
	})
}

// HealthHandler answers 200 while all is well, on leaders and followers
// alike, and 503 with the reason when a leader could not renew for LeaderStale or a
// follower had no answer of the store for FollowerStale: also when a request
// that ignores its context keeps it from campaigning, or Run has returned. It is for
// probes that restart the process or call somebody; a follower that is well is
// no reason for either.
func (e *Election) HealthHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		st := e.State()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case !st.Healthy:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, st.Problem)
		case st.Leading:
			fmt.Fprintln(w, "ok: leading")
		default:
			fmt.Fprintln(w, "ok: following")
		}
	})
}

func writeJSON(w http.ResponseWriter, status int, kind string, v any) {
	b, err := json.Marshal(v)
	if err != nil { // cannot be: there are only strings and numbers in it
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}
