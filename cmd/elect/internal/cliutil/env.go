// Package cliutil holds what all commands of elect share: the world they run in,
// their exit codes, and how they print.
package cliutil

import (
	"io"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// Env is the world that a command runs in. Commands take everything from here,
// so that a test can give them another one.
type Env struct {
	// Stdout is for results, Stderr for everything else.
	Stdout, Stderr io.Writer
	// Stores opens what --store names.
	Stores *stores.Opener
	// Executable is the path of this program, for commands that start it again.
	Executable string
}
