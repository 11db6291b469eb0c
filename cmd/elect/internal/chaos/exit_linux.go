package chaos

import (
	"slices"
	"strings"
	"syscall"
)

// explained tells whether elect may end like this, by what docs/CLI.md says and by what
// the harness does to it.
func explained(ws syscall.WaitStatus, said string) bool {
	if ws.Signaled() {
		switch ws.Signal() {
		case syscall.SIGKILL:
			return true
		case syscall.SIGTERM, syscall.SIGINT:
			return said == "" // it was asked to end before it could catch that
		}
		return false
	}
	code := ws.ExitStatus()
	if code == 70 {
		return strings.Contains(said, "the guard process was killed")
	}
	return slices.Contains([]int{
		0,       // COMMAND has done its work
		76,      // leadership was lost
		128 + 2, // SIGINT, while waiting
		128 + 9, // COMMAND was killed
		128 + 15,
	}, code)
}
