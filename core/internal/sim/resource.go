package sim

import "sync"

// resource takes the writes of leaders, and refuses those with a token that is
// lower than one it has seen.
type resource struct {
	mu    sync.Mutex
	token int64
	reign int
}

func (r *resource) write(w *world, who int, token int64, reign int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if token < r.token {
		w.counts.add("fenced write refused", 1)
		w.diary.note(who, refused, token, 0, "")
		return
	}
	if reign < r.reign {
		w.judge.violated(staleWrite, who, "the resource took a write of reign %d (token %d) after one of reign %d (token %d)", reign, token, r.reign, r.token)
	}
	r.token, r.reign = token, reign
	w.counts.add("fenced write", 1)
}
