package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/core"
)

// campaign waits until this candidate is elected. A signal and the end of outer end
// the waiting. They do not end the leadership, which has to last while COMMAND is
// being stopped: the returned cancel does.
func (s *session) campaign(outer context.Context, cfg core.Config) (*core.Leadership, context.CancelFunc, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(outer))
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case sig := <-s.signals:
				if endsWaiting(sig) {
					cancel(signalled{sig})
					return
				}
			case <-outer.Done():
				cancel(signalled{os.Interrupt})
				return
			case <-stop:
				return
			}
		}
	})
	var l *core.Leadership
	var err error
	if s.once {
		l, err = cfg.TryAcquire(ctx)
	} else {
		l, err = cfg.Campaign(ctx)
	}
	close(stop)
	watching.Wait()

	var by signalled
	switch {
	case errors.As(context.Cause(ctx), &by):
		if l != nil { // elected at the same instant
			s.resign(l)
		}
		err = &cliutil.ExitError{Code: cliutil.ExitSignal + signalNumber(by.sig)}
	case err != nil:
		err = explain(err)
	}
	if err != nil {
		cancel(context.Canceled)
		return nil, nil, err
	}
	return l, func() { cancel(context.Canceled) }, nil
}

// signalled is the cause of a campaign's end by a signal.
type signalled struct{ sig os.Signal }

func (s signalled) Error() string { return "ended by " + s.sig.String() }

// explain gives a campaign's error its exit code and says what to do.
func explain(err error) error {
	var held *core.HeldError
	switch {
	case errors.Is(err, core.ErrInvalidConfig):
		return cliutil.Usage("%s: see elect run --help", flagNames(cliutil.Line(err)))
	case errors.Is(err, core.ErrBroken):
		return cliutil.Exit(cliutil.ExitBroken, "%w", err)
	case errors.Is(err, core.ErrBadEntry):
		return cliutil.Exit(cliutil.ExitBroken, "%w", err) // the decider has said what to do
	case errors.As(err, &held) && held.Current.Nonce != "":
		return cliutil.Exit(cliutil.ExitNotElected, "not elected: %s: try again later, or wait with --wait", holder(held))
	}
	return cliutil.Exit(cliutil.ExitUnavailable, "nothing was learned from the store: %w", storeError(err))
}

// storeError is what the store said, without the election's view that nothing
// is known, which the person who waits for it knows.
func storeError(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && errors.Is(err, core.ErrHeld) {
		for _, e := range joined.Unwrap() {
			if !errors.Is(e, core.ErrHeld) {
				return e
			}
		}
	}
	return err
}

// holder says who holds the election, and for how long if nothing is renewed.
func holder(h *core.HeldError) string {
	left := h.RetryAfter.Round(time.Second / 10)
	switch e := h.Current; {
	case e.Held:
		return fmt.Sprintf("%s keeps the election closed for %v (a reign that is done, with --min-hold, or elect break)", e.LeaderID, left)
	case e.Vacant():
		return fmt.Sprintf("another candidate came first, or the entry has vanished; free in %v", left)
	default:
		return fmt.Sprintf("%s leads with fencing token %d", e.LeaderID, e.FencingToken)
	}
}

// teller says on stderr why COMMAND does not run yet, once per reason.
type teller struct {
	env  *cliutil.Env
	once bool // there is no waiting to tell of
	last string
}

func (t *teller) hear(e core.Event) {
	var line string
	var held *core.HeldError
	switch {
	case t.once:
		return
	case e.Kind != core.EventWaiting && (e.Kind != core.EventRequest || e.Op != core.OpRead || e.Outcome != core.OutcomeUnknown):
		return
	case errors.As(e.Err, &held) && held.Current.Nonce != "":
		line = "waiting: " + holder(held)
	case errors.Is(e.Err, core.ErrBadEntry):
		line = fmt.Sprintf("waiting: %v: look at it with elect status, and end it with elect break --corrupt if nobody leads", e.Err)
	case e.Err != nil && !errors.Is(e.Err, context.Canceled):
		line = fmt.Sprintf("waiting: the store does not answer, trying again: %v", e.Err)
	}
	// What differs in numbers only is the same reason.
	reason := fmt.Sprint(e.Kind, e.Entry.LeaderID, e.Entry.FencingToken, e.Entry.Held)
	if line == "" || reason == t.last {
		return
	}
	t.last = reason
	t.env.Warn("%s", line)
}
