package runcmd

import (
	"context"
	"errors"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// resignWithin is how long elect tries to resign at most. COMMAND has ended by then,
// and whoever waits for elect waits for nothing else.
const resignWithin = 10 * time.Second

var errSecondSignal = errors.New("a second signal ended elect")

// resign gives the election up in the store: for resignWithin at most, and not for
// longer than the term lasts anyway. COMMAND has ended by now, so a failure is
// worth a warning and no more: the next leader waits for the term's end.
func (s *session) resign(l *core.Leadership) {
	limit := min(resignWithin, l.TimeLeft())
	if limit <= 0 { // one look: it may still help the next leader
		limit = min(resignWithin, s.term/4)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	defer timer.Stop()
	done := make(chan error, 1)
	go func() { done <- l.Resign(ctx) }()

	say := time.NewTimer(time.Second)
	defer say.Stop()
	tell := func() {
		if say.Stop() { // not told yet
			s.env.Warn("COMMAND has ended; resigning, and waiting for the store to confirm it for %v at most: another SIGINT or SIGTERM ends elect at once",
				limit.Round(time.Second/10))
		}
	}
	for {
		select {
		case err := <-done:
			s.warnNotResigned(err, errors.Is(context.Cause(ctx), errSecondSignal))
			return
		case <-say.C:
			say.Reset(time.Hour) // so that tell finds it running
			tell()
		case sig := <-s.signals:
			if !asksToEnd(sig) {
				continue
			}
			if s.asked++; s.asked > 1 {
				cancel(errSecondSignal)
			} else {
				tell()
			}
		}
	}
}

func (s *session) warnNotResigned(err error, hurried bool) {
	switch {
	case err == nil:
	case hurried:
		s.env.Warn("did not resign, as a second signal asked it to end at once: the next leader waits for the end of the term, %v at most", s.term)
	default:
		s.env.Warn("%v", err)
	}
}
