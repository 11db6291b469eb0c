//go:build unix

package demo

import (
	"os"
	"os/exec"
	"syscall"
)

// canFreeze: processes can be stopped and continued here.
const canFreeze = true

func freeze(p *os.Process) error    { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error      { return p.Signal(syscall.SIGCONT) }
func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// detach gives the process a group of its own: Ctrl-C in the terminal is for the
// parent, who ends the workers itself. If the parent dies without doing so, the
// system wakes stopped ones of such a group and ends them.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
