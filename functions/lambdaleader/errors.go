package lambdaleader

import (
	"context"
	"errors"
	"log/slog"

	"github.com/cloudelect/cloudelect/core"
)

var (
	// ErrNoTime: the deadline of the invocation is too near. Before the handler
	// ran it means that no work was begun; as the cause of the handler's context,
	// that it has to return now.
	ErrNoTime = errors.New("lambdaleader: the deadline of the invocation is too near")
	// ErrShutdown: Shutdown was called, or SIGTERM came: no work is begun any more.
	// It is also the cause of the context of a handler that was running.
	ErrShutdown = errors.New("lambdaleader: shutting down")
)

// FollowerError is what a follower's invocation fails with: somebody else leads,
// so the work was not begun here. It Is core.ErrHeld, and errors.As finds the
// *core.HeldError in it. The runtime reports its type, "FollowerError", as the
// error's: a Step Functions Retry can name it.
type FollowerError struct {
	// Held says who leads, and when it makes sense to try again.
	Held *core.HeldError
}

// Error names the leader.
func (e *FollowerError) Error() string {
	if e == nil {
		return "lambdaleader: a nil *FollowerError"
	}
	return "lambdaleader: not the leader, nothing was done: " + e.Held.Error()
}

// Unwrap returns the HeldError.
func (e *FollowerError) Unwrap() error {
	if e == nil || e.Held == nil {
		return nil
	}
	return e.Held
}

// follower turns an answer of core's into a FollowerError if all it says is that
// somebody else leads. One that tells of a failing store besides is no
// news about a leader.
func follower(err error) (*FollowerError, bool) {
	held, only := err.(*core.HeldError)
	if !only {
		return nil, false
	}
	return &FollowerError{Held: held}, true
}

// log writes a line if there is a Logger.
func (l *Leader) log(level slog.Level, msg string, attrs ...slog.Attr) {
	if l.config.Logger != nil {
		attrs = append(attrs, slog.String("candidate", l.LeaderID()))
		l.config.Logger.LogAttrs(context.Background(), level, "lambdaleader: "+msg, attrs...)
	}
}
