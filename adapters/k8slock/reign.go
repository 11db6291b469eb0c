package k8slock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// reign is what a lock knows of its own leadership.
type reign struct {
	token   int64         // 0: this lock does not lead
	renewed time.Duration // when the last write that is known to be stored was sent (Reading.AtMost)
	// failing: the last attempt to renew failed, and not because client-go's
	// context was cancelled. A release that follows would be sent before client-go
	// has told the work to stop.
	failing bool
}

func (r *reign) lose() { r.token = 0 }

// fail notes that a request did not do what client-go wanted.
func (r *reign) fail(ctx context.Context) {
	r.failing = r.token != 0 && !errors.Is(ctx.Err(), context.Canceled)
}

// FencingToken is the number of the running reign, for the resources that the
// leader writes to: higher than that of every reign before, and constant over its
// renewals. 0 while this lock does not hold the lease. Ask for it once, when
// OnStartedLeading begins, and keep it.
func (l *Lock) FencingToken() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.token
}

// Check is nil while the lease is this lock's by its clocks and by all it has
// heard: less than LeaseDuration has passed, by both clocks, since the last write
// that was stored was sent, nothing newer was seen, and no release was sent. Otherwise the error Is
// ErrNotLeading. It asks no store. client-go's own IsLeader looks at no clock, and
// its work goes on for up to RenewDeadline after a loss was seen: ask before every
// step that must not be done twice.
func (l *Lock) Check() error {
	now := l.time.Look()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token == 0 {
		return fmt.Errorf("%w %s: the lease is not this lock's", ErrNotLeading, l.opts.Name)
	}
	if since := now.AtMost - l.renewed; since >= l.opts.LeaseDuration {
		return fmt.Errorf("%w %s any more: the lease of %v was last renewed %v ago", ErrNotLeading, l.opts.Name, l.opts.LeaseDuration, since.Round(time.Millisecond))
	}
	return nil
}
