package guard

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// monotonic is the clock that goes on while the machine is suspended.
const monotonic = unix.CLOCK_BOOTTIME

// commandAttr puts COMMAND into a group of its own, and has the kernel kill it
// when the thread that started it dies.
func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adopt makes orphans among the descendants children of this process, so that it
// can wait for them. Where it is refused, init waits for them.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
