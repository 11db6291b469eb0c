package health

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// State is what the handlers say in JSON. Where httpleader and "elect status" have the
// same, it has the same name; fields are added, never renamed.
type State struct {
	// Candidate is the LeaderID, once there was an event.
	Candidate string `json:"candidate,omitempty"`
	Leading   bool   `json:"leading"`
	// State is starting, leading or following.
	State        string `json:"state"`
	FencingToken int64  `json:"fencing_token,omitempty"` // of the latest reign of its own
	TermMS       int64  `json:"term_ms,omitempty"`       // of that reign
	TimeLeftMS   int64  `json:"time_left_ms"`            // 0 when not leading
	// LastReadMS is how long ago the store last answered, in milliseconds, or how long ago a
	// reign ended, if that is less; -1: never.
	LastReadMS int64 `json:"last_read_ms"`
	Ready      bool  `json:"ready"`
	Live       bool  `json:"live"`
	// Problem is why it is not ready, or not live, in the words of Ready and Live.
	Problem string `json:"problem,omitempty"`
	// Error is what the latest request came back with, if it failed.
	Error string `json:"error,omitempty"`
}

// ReadyHandler answers 200, or 503 and the reason, by Ready: one line of text, or
// State as JSON for ?format=json and for who accepts application/json. The reason may
// quote the store's errors, with the names of buckets: keep it from strangers.
func (h *Health) ReadyHandler() http.Handler {
	return h.handler(func(s *sight) error { return s.ready })
}

// LiveHandler is ReadyHandler by Live.
func (h *Health) LiveHandler() http.Handler {
	return h.handler(func(s *sight) error { return s.live })
}

func (h *Health) handler(problem func(*sight) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := h.look()
		status, err := http.StatusOK, problem(&s)
		if err != nil {
			status = http.StatusServiceUnavailable
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if wantsJSON(r) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(s.state(err)) // strings and numbers, and a client that may be gone
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		line := "ok: " + s.word()
		if err != nil {
			line = strings.TrimPrefix(err.Error(), "health: ")
		}
		fmt.Fprintln(w, strings.ReplaceAll(line, "\n", "; "))
	})
}

func wantsJSON(r *http.Request) bool {
	return r.URL.Query().Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json")
}

func (s *sight) word() string {
	switch {
	case s.leading:
		return "leading"
	case s.started:
		return "following"
	}
	return "starting"
}

func (s *sight) state(problem error) State {
	st := State{Candidate: s.name, Leading: s.left > 0, State: s.word(), FencingToken: s.token,
		TermMS: s.term.Milliseconds(), TimeLeftMS: s.left.Milliseconds(), LastReadMS: s.silent.Milliseconds(),
		Ready: s.ready == nil, Live: s.live == nil}
	if s.silent < 0 {
		st.LastReadMS = -1
	}
	if problem == nil {
		problem = s.ready
	}
	if problem != nil {
		st.Problem = problem.Error()
	}
	if s.err != nil {
		st.Error = s.err.Error()
	}
	return st
}
