// Package cliutil holds what all commands of elect share: the world they run in,
// their exit codes, and how they print.
package cliutil

import (
	"io"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// Env is the world that a command runs in. Commands take everything from here,
// so that a test can give them another one.
type Env struct {
	// Stdout is for results, Stderr for everything else.
	Stdout, Stderr io.Writer
	// Stores opens what --store names.
	Stores *stores.Opener
	// Clock is this host's, by which commands judge and which they print; nil: the
	// system's.
	Clock clocks.Clock
	// Executable is the path of this program, for commands that start it again.
	Executable string
}

// HostClock is Clock, or the system's.
func (e *Env) HostClock() clocks.Clock {
	if e.Clock == nil {
		return clocks.DefaultClock()
	}
	return e.Clock
}
