package runcmd

import (
	"context"
	"errors"
	"math"
	"os"
	"sync"

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
			s.asked++
			s.resign(l)
		}
		err = &cliutil.ExitError{Code: cliutil.ExitSignal + signalNumber(by.sig)}
	case err != nil:
		err = explain(err, s.story.notTaken())
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

// explain gives a campaign's error its exit code and says what to do. notTaken is what
// the store said to the last attempt to win, if it answers only when it is read.
func explain(err, notTaken error) error {
	var held *core.HeldError
	switch {
	case errors.Is(err, core.ErrInvalidConfig):
		return cliutil.Usage("%s: see elect run --help", flagNames(cliutil.Line(err)))
	case errors.Is(err, core.ErrBroken):
		return cliutil.Exit(cliutil.ExitBroken, "%w", err)
	case errors.Is(err, core.ErrBadEntry):
		return cliutil.Exit(cliutil.ExitBroken, "%w", err) // the decider has said what to do
	case notTaken != nil && (!errors.As(err, &held) || held.RetryAfter <= 0):
		return cliutil.Exit(cliutil.ExitUnavailable, "not elected: the election is free, but the store did not take the write: %w", notTaken)
	case errors.As(err, &held) && held.RetryAfter != math.MaxInt64 && (held.Current.Nonce != "" || held.RetryAfter > 0):
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
