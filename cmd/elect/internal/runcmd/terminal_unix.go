//go:build unix

package runcmd

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the controlling terminal. COMMAND's group is in its background, so
// that Ctrl-C comes to elect; a process there that reads from the terminal, or
// changes its settings, is stopped by the kernel, and that is when COMMAND gets it.
type terminal struct {
	file  *os.File // nil: there is none
	modes *term.State
	given bool
}

// openTerminal finds the controlling terminal, if there is one. It is called after
// the last process was started: that SIGTTOU is ignored from now on, so that
// elect may write and take the terminal back from the background, is not inherited.
func openTerminal() *terminal {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return &terminal{}
	}
	signal.Ignore(syscall.SIGTTOU)
	return &terminal{file: f}
}

// give hands the terminal to the group. It is false where elect does not have it.
func (t *terminal) give(pgid int) bool {
	if t.file == nil {
		return false
	}
	if t.given {
		return true
	}
	fd := int(t.file.Fd())
	owner, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil || owner != syscall.Getpgrp() {
		return false
	}
	t.modes, _ = term.GetState(fd)
	t.given = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, pgid) == nil
	return t.given
}

// back takes the terminal back, and restores the settings that COMMAND may not
// have had the time to.
func (t *terminal) back() {
	if !t.given {
		return
	}
	t.given = false
	fd := int(t.file.Fd())
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, syscall.Getpgrp())
	if t.modes != nil {
		_ = term.Restore(fd, t.modes)
	}
}

func (t *terminal) close() {
	if t.file != nil {
		t.file.Close()
	}
}

// suspended deals with COMMAND having been stopped by a signal (0: it was not).
func (r *reign) suspended(sig int) {
	switch s := syscall.Signal(sig); s {
	case 0:
	case syscall.SIGTTIN, syscall.SIGTTOU:
		if r.tty.give(r.guard.PGID()) {
			r.wanting = 0
			r.guard.Signal(syscall.SIGCONT)
		} else if r.wanting == 0 {
			r.wanting = sig // try again: elect may be brought to the foreground
			r.env.Warn("COMMAND waits for the terminal, which elect does not have: bring elect to the foreground (fg), or give it </dev/null")
		}
	case syscall.SIGTSTP:
		if !r.tty.given {
			r.env.Warn("COMMAND was suspended; elect goes on leading: continue it with kill -CONT -%d", r.guard.PGID())
			return
		}
		// Ctrl-Z. A leader that does not work helps nobody, and the shell does
		// not know of it.
		r.env.Warn("a leader cannot be suspended, COMMAND goes on: Ctrl-C ends it")
		r.guard.Signal(syscall.SIGCONT)
	default:
		r.env.Warn("COMMAND was stopped (%v); elect goes on leading: continue it with kill -CONT -%d", unix.SignalName(s), r.guard.PGID())
	}
}
