package jobleader

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// The exit codes of Run, which are those of "elect run". They never change.
const (
	ExitOK          = 0
	ExitFailed      = 1   // the work returned an error
	ExitConfig      = 64  // the Config contradicts itself
	ExitUnavailable = 69  // the store did not answer, or not so that anything was learned
	ExitInternal    = 70  // the work ended its goroutine
	ExitNotElected  = 75  // somebody else leads, or the election is not free yet
	ExitLost        = 76  // leadership was lost while the work ran
	ExitBroken      = 78  // the set-up has to be changed
	ExitSignal      = 128 // + the number of the signal
)

// signalError is why the work's context ended.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return "jobleader: the process got the signal " + e.String() }

// code is the exit code of whoever a signal ended.
func (e signalError) code() int {
	if n, ok := e.Signal.(syscall.Signal); ok {
		return ExitSignal + int(n)
	}
	return ExitSignal + int(syscall.SIGTERM)
}

// errNoReturn: the work has ended its goroutine.
var errNoReturn = errors.New("jobleader: the work ended its goroutine without returning (runtime.Goexit)")

// codeOfElection is the exit code of a task that was not elected, or whose
// leadership was lost.
func codeOfElection(err error) int {
	var sig signalError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &sig):
		return sig.code()
	case errors.Is(err, core.ErrInvalidConfig):
		return ExitConfig
	case errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired):
		return ExitLost
	case errors.Is(err, core.ErrBroken), errors.Is(err, core.ErrBadEntry), errors.Is(err, schedule.ErrCheckpoint),
		errors.Is(err, schedule.ErrFutureSlot), errors.Is(err, schedule.ErrNoDate):
		return ExitBroken
	case errors.Is(err, core.ErrHeld):
		return ExitNotElected
	case errors.Is(err, context.Canceled):
		return ExitSignal + int(syscall.SIGINT)
	}
	return ExitUnavailable
}

// codeOfWork is the exit code for what work returned. stop is why it was asked to
// stop, if it was.
func codeOfWork(err, stop error) int {
	var own interface{ ExitCode() int }
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errNoReturn):
		return ExitInternal
	case errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired):
		return ExitLost
	case stop != nil && (errors.Is(err, context.Canceled) || errors.Is(err, stop)):
		return codeOfElection(stop)
	case errors.As(err, &own) && own.ExitCode() > 0 && own.ExitCode() < 256:
		return own.ExitCode()
	}
	return ExitFailed
}
