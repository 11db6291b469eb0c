package sim

import "sync"

// tally counts what is on its way. Unlike a sync.WaitGroup it may be waited for
// while more sets out: a call that was given up before it began is not in order
// with anything.
type tally struct {
	mu   sync.Mutex
	n    int
	none sync.Cond
}

func (t *tally) add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
}

func (t *tally) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.none.L != nil {
		t.none.Broadcast()
	}
}

func (t *tally) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.none.L = &t.mu
	for t.n > 0 {
		t.none.Wait()
	}
}
