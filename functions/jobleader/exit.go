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
	ExitInternal    = 70  // the work ended its goroutine, or resigned from a slot
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

// endedError is why the task was asked to stop when the context given to Run ended.
type endedError struct{ cause error }

func (e *endedError) Error() string {
	return "jobleader: the context given to Run has ended: " + e.cause.Error()
}

func (e *endedError) Unwrap() error { return e.cause }

// code is what the cause says, or else that of SIGTERM, which asks for the same.
func (e *endedError) code() int {
	if n, ok := ownCode(e.cause); ok {
		return n
	}
	return ExitSignal + int(syscall.SIGTERM)
}

// ownCode is the exit code that err has a method for.
func ownCode(err error) (int, bool) {
	var own interface{ ExitCode() int }
	if errors.As(err, &own) && own.ExitCode() > 0 && own.ExitCode() < 256 {
		return own.ExitCode(), true
	}
	return 0, false
}

// stopped is why the task was asked to stop, which is a signal or the end of the
// caller's context; nil if it was not.
func (j *job) stopped() error {
	cause := context.Cause(j.asked)
	if _, isSignal := cause.(signalError); cause == nil || isSignal {
		return cause
	}
	return &endedError{cause}
}

// obeyed tells whether err is of work, or of a campaign, that ended because of stop.
func obeyed(err, stop error) bool {
	if stop == nil || err == nil {
		return false
	}
	var ended *endedError
	if errors.As(stop, &ended) {
		if errors.Is(err, context.DeadlineExceeded) && errors.Is(ended.cause, context.DeadlineExceeded) {
			return true
		}
		stop = ended.cause
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, stop)
}

// plainly is err, or stop where err says less: "context canceled" does not tell why.
func plainly(err, stop error) error {
	if !obeyed(err, stop) {
		return err
	}
	switch text := err.Error(); text {
	case context.Canceled.Error(), context.DeadlineExceeded.Error():
		return stop
	default:
		if cause := errors.Unwrap(stop); cause != nil && cause.Error() == text {
			return stop
		}
	}
	return err
}

// errNoReturn: the work has ended its goroutine.
var errNoReturn = errors.New("jobleader: the work ended its goroutine without returning (runtime.Goexit)")

// errResigned: trying again would only do the work again.
var errResigned = errors.New("jobleader: the work must not resign: it did, so its slot is not recorded as done, although it was worked on: remove that from the work, Run resigns when it has returned")

// codeOfElection is the exit code of a task that was not elected, or whose
// leadership was lost.
func codeOfElection(err error) int {
	var sig signalError
	var ended *endedError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &sig):
		return sig.code()
	case errors.As(err, &ended):
		return ended.code()
	case errors.Is(err, core.ErrInvalidConfig):
		return ExitConfig
	case errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired):
		return ExitLost
	case errors.Is(err, core.ErrBroken), errors.Is(err, core.ErrBadEntry), errors.Is(err, schedule.ErrCheckpoint),
		errors.Is(err, schedule.ErrFutureSlot), errors.Is(err, schedule.ErrNoDate):
		return ExitBroken
	case errors.Is(err, core.ErrHeld):
		return ExitNotElected
	}
	return ExitUnavailable
}

// codeOfWork is the exit code for what work returned. stop is why it was asked to
// stop, if it was.
func codeOfWork(err, stop error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errNoReturn):
		return ExitInternal
	case errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired):
		return ExitLost
	case obeyed(err, stop):
		return codeOfElection(stop)
	}
	if n, ok := ownCode(err); ok {
		return n
	}
	return ExitFailed
}
