//go:build unix && !linux

package guard

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// monotonic goes on while the machine sleeps on darwin; elsewhere the wall clock
// has to tell.
const monotonic = unix.CLOCK_MONOTONIC

// commandAttr puts COMMAND into a group of its own. There is no way here to have
// it die with the guard: elect notices and kills the group.
func commandAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// adopt does nothing: orphans are init's here, which waits for them.
func adopt() {}
