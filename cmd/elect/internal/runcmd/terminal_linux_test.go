package runcmd_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// screen is a terminal with elect in its foreground.
type screen struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	shown  output
}

// onTerminal starts `elect run` as the leader of a session on a terminal of its own.
func (e *election) onTerminal(args ...string) *screen {
	e.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		e.t.Skipf("there are no terminals here: %v", err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		e.t.Skipf("there are no terminals here: %v", err)
	}
	defer tty.Close()
	s := &screen{t: e.t, master: master}
	s.cmd = exec.Command(os.Args[0], append([]string{"run", "--store", e.url()}, args...)...)
	s.cmd.Env = e.environ()
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&s.shown, master) }) // ends when nobody has the terminal open
	e.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		reading.Wait()
		master.Close()
		if e.t.Failed() {
			e.t.Logf("the screen: %s", s.shown.String())
		}
	})
	return s
}

func (s *screen) types(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) shows(text string) {
	s.t.Helper()
	until(s.t, "the terminal shows "+text, func() bool { return strings.Contains(s.shown.String(), text) })
}

func (s *screen) exits(want int) {
	s.t.Helper()
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != want {
		s.t.Errorf("exit code %d, want %d", got, want)
	}
}

const ctrlC, ctrlD, ctrlZ = "\x03", "\x04", "\x1a"

// COMMAND is in the background, so Ctrl-C is elect's: SIGTERM, then SIGKILL.
func TestCtrlCStopsAndTwiceKills(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	s := e.onTerminal("--grace", "1h", "--", "sh", "-c", `trap 'echo not yet' TERM; echo ready; while :; do sleep 0.05; done`)
	s.shows("ready")
	s.types(ctrlC)
	s.shows("not yet")
	s.types(ctrlC)
	s.exits(128 + 9)
	if r := e.stored(); !r.Vacant() {
		t.Errorf("%s still leads", r.LeaderID)
	}
}

// COMMAND gets the terminal when it reads from it; then Ctrl-C is COMMAND's, and
// Ctrl-Z does not make a leader that does not work.
func TestCommandReadsFromTheTerminal(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	s := e.onTerminal("--", "sh", "-c", `read line; echo "got $line"; cat; echo "end"; exit 3`)
	s.types("first\n")
	s.shows("got first")
	s.types("second\n")
	s.shows("second\r\nsecond") // cat reads: a shell that is just starting it cannot be stopped
	s.types(ctrlZ)
	s.shows("cannot be suspended")
	s.types("third\n")
	s.shows("third\r\nthird")
	s.types(ctrlD)
	s.shows("end")
	s.exits(3)
}

func TestCtrlCReachesACommandThatReads(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	s := e.onTerminal("--", "sh", "-c", `trap 'echo interrupted; exit 4' INT; read line; echo "got $line"; read line`)
	s.types("first\n")
	s.shows("got first")
	s.types(ctrlC)
	s.shows("interrupted")
	s.exits(4)
	if r := e.stored(); !r.Vacant() {
		t.Errorf("%s still leads", r.LeaderID)
	}
}
