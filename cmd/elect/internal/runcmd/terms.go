package runcmd

import (
	"context"
	"sync"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// dated notes for every write what the clocks showed before it was sent, in
// readings that the guard can compare with its own. A term counts from there.
type dated struct {
	core.RaceDecider

	mu    sync.Mutex
	sent  map[string]guard.Reading // by nonce
	order []string
}

// keep is how many writes are remembered: far more than a reign leaves unanswered.
const keep = 256

// WriteEntry notes the clocks and writes.
func (d *dated) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	d.note(e.Nonce)
	return d.RaceDecider.WriteEntry(ctx, e)
}

func (d *dated) note(nonce string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sent == nil {
		d.sent = make(map[string]guard.Reading)
	}
	if len(d.order) == keep {
		delete(d.sent, d.order[0])
		d.order = d.order[1:]
	}
	d.sent[nonce] = guard.Now()
	d.order = append(d.order, nonce)
}

// when returns what the clocks showed before the write with this nonce was sent.
func (d *dated) when(nonce string) (guard.Reading, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.sent[nonce]
	return r, ok
}

// limited is a dated store that tells its limit.
type limited struct {
	*dated
	core.WriteLimiter
}

// decider is d as the election gets it: with the limit, if the store has one.
func (d *dated) decider() core.RaceDecider {
	if l, ok := d.RaceDecider.(core.WriteLimiter); ok {
		return limited{d, l}
	}
	return d
}
