package cliutil

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
)

// The exit codes of elect. `elect run` passes on COMMAND's own status otherwise;
// these were chosen so that few programs use them (they are sysexits.h's, with
// the meaning they have there as far as it goes). Scripts depend on them: they
// never change.
const (
	ExitOK          = 0   // done
	ExitFailed      = 1   // a check that the command makes has failed (elect demo)
	ExitUsage       = 64  // the command line has to be changed
	ExitBadEntry    = 65  // what is stored is not an entry (elect status, elect break)
	ExitUnavailable = 69  // the store did not answer, or not so that anything was learned: try again
	ExitInternal    = 70  // elect itself failed: its guard was killed, or the system refused it something
	ExitNotElected  = 75  // --once or --wait: somebody else leads
	ExitLost        = 76  // leadership was lost while COMMAND ran; it was stopped
	ExitBroken      = 78  // the set-up has to be changed: permission, bucket, credentials, an entry nobody understands
	ExitNotRunnable = 126 // COMMAND is there but cannot be run
	ExitNotFound    = 127 // COMMAND was not found
	ExitSignal      = 128 // + the number of the signal that ended COMMAND, or elect while it waited
)

// ExitCodes describes them for help texts.
const ExitCodes = `Exit codes of elect itself:
  64   the command line is wrong
  69   the store could not be asked: try again
  70   elect itself failed (its guard was killed, no process could be started)
  75   not elected (--once, --wait)
  76   leadership was lost while COMMAND ran, and COMMAND was stopped
  78   the set-up is wrong: permission, bucket, credentials, unreadable entry
  126  COMMAND cannot be run
  127  COMMAND was not found
  128+n  ended by signal n`

// ExitError is an error that chooses the exit code.
type ExitError struct {
	Code int
	// Err is printed; nil prints nothing.
	Err error
}

// Error is what is printed.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns what is printed.
func (e *ExitError) Unwrap() error { return e.Err }

// Exit is an error that ends elect with code and prints a message.
func Exit(code int, format string, args ...any) error {
	return &ExitError{Code: code, Err: fmt.Errorf(format, args...)}
}

// Usage is the error for a command line that has to be changed. The message
// says how.
func Usage(format string, args ...any) error { return Exit(ExitUsage, format, args...) }

// CodeOf is the exit code that err calls for. Errors of the election and of the
// stores have codes of their own; any other error without an ExitError is the
// store's, for that is what everything here talks to.
func CodeOf(err error) int {
	var exit *ExitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.Code
	case errors.Is(err, core.ErrInvalidConfig), errors.Is(err, stores.ErrURL):
		return ExitUsage
	case errors.Is(err, core.ErrBroken), errors.Is(err, core.ErrBadEntry):
		return ExitBroken
	case errors.Is(err, core.ErrHeld):
		return ExitNotElected
	case errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired):
		return ExitLost
	case errors.Is(err, context.Canceled):
		return ExitSignal + 2
	}
	return ExitUnavailable
}

// Message is the line to print for err, "" for none.
func Message(err error) string {
	var exit *ExitError
	if err == nil || errors.As(err, &exit) && exit.Err == nil {
		return ""
	}
	return Line(err)
}
