package demo

import (
	"os"

	"golang.org/x/sys/unix"
)

// isStopped tells whether every thread of a child that was sent SIGSTOP has
// stopped. On a busy machine that takes a while.
func isStopped(p *os.Process, _ int64) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.Pid, &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err != nil || info.Signo == int32(unix.SIGCHLD) // an error: there is nothing to wait for
}
