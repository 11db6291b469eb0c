//go:build unix

package guard

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Now looks at the clocks.
func Now() Reading {
	var ts unix.Timespec
	r := Reading{Wall: time.Duration(time.Now().UnixNano())}
	if err := unix.ClockGettime(monotonic, &ts); err == nil {
		r.Mono = time.Duration(ts.Nano())
	}
	return r
}

// signalGroup sends sig to every process of the group.
func signalGroup(pgid int, sig syscall.Signal) {
	if pgid > 1 {
		_ = syscall.Kill(-pgid, sig) // no such group: they are gone already
	}
}

// groupGone tells whether the group has no process left, not even one that
// nobody has waited for. Processes that we may not signal are there.
func groupGone(pgid int) bool {
	return errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH)
}

// statusOf is a shell's number for how a process ended.
func statusOf(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// killGroup kills what is left of the group and waits until it is gone, or for
// patience. It is elect's part, for a guard that is gone.
func killGroup(pgid int, patience time.Duration) (gone bool) {
	for waited := time.Duration(0); ; waited += 5 * time.Millisecond {
		signalGroup(pgid, syscall.SIGKILL)
		var ws syscall.WaitStatus
		for {
			// Orphans of the guard are ours by now, where the system does that.
			if pid, err := syscall.Wait4(-pgid, &ws, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
		if groupGone(pgid) {
			return true
		}
		if waited >= patience {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
}
