package core

import (
	"sync"

	"github.com/vimeo/go-clocks"
)

// lookout looks at the clocks every eighth of the term while an attempt to win
// is open. A win counts from the sending of its write, and the answer, or the look
// that finds it stored, may come much later. Nobody leads yet, so no beat looks:
// two faults of the host's clocks could hide each other in between, and the
// reign would last too long.
type lookout struct {
	mu    sync.Mutex // a leaf but for the clock
	timer clocks.StopTimer
}

// start begins to look, unless it has begun.
func (o *lookout) start(c *client) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer == nil {
		o.arm(c)
	}
}

func (o *lookout) arm(c *client) {
	o.timer = c.Clock.AfterFunc(max(c.TermLength/8, 1), func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.timer == nil {
			return
		}
		c.sample()
		o.arm(c)
	})
}

// stop ends it.
func (o *lookout) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}
