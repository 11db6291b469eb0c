//go:build unix

package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// The pipes that elect hands down, next to the standard ones.
const (
	ordersFD  = 3
	reportsFD = 4
)

// Main is a guard's life: args are the marker, COMMAND's path and its arguments
// (with its name as the first). It returns the exit code, which says nothing.
func Main(args []string, stderr io.Writer) int {
	orders, reports, err := pipes()
	if err != nil || len(args) < 3 {
		fmt.Fprintf(stderr, "elect: %s is a part of elect run, not a command: see elect run --help\n", marker)
		return 64
	}
	// The kernel kills COMMAND when the thread that started it dies: keep it.
	runtime.LockOSThread()
	adopt()
	g := &process{
		path: args[1], argv: args[2:],
		reports: json.NewEncoder(reports),
		stderr:  stderr,
		orders:  orders,
		arrived: make(chan struct{}),
		waits:   make(chan wait),
		signals: make(chan os.Signal, 16),
	}
	return g.run()
}

// pipes finds the pipes, and keeps them from COMMAND: a copy of the reports' end
// in there would hide the guard's death from elect.
func pipes() (orders *inbox, reports *os.File, err error) {
	for _, fd := range []int{ordersFD, reportsFD} {
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil {
			return nil, nil, err
		}
		if st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return nil, nil, errors.New("not a pipe")
		}
		syscall.CloseOnExec(fd)
	}
	orders, err = newInbox(ordersFD)
	return orders, os.NewFile(reportsFD, "reports"), err
}

// process is the guard. Everything but waiting, for orders and for children, happens
// on the goroutine of run.
type process struct {
	path    string
	argv    []string
	reports *json.Encoder
	stderr  io.Writer

	orders  *inbox
	arrived chan struct{} // that there are orders; closed when elect is gone
	orphan  bool          // elect's being gone was dealt with
	waits   chan wait
	signals chan os.Signal

	term   deadline
	pgid   int
	status int
	exited bool // COMMAND has ended; others of its group may be there
	why    Reason
	sent   Reading // before the last write that was known of then
	// stopping: SIGTERM was sent, and SIGKILL follows after killIn, or when the
	// term demands it. killing: it was sent.
	stopping, killing bool
	killIn            time.Duration
	kills             int // looks that found something to kill
	last              Reading
	said              chan struct{}
}

// wait is what the kernel tells about a child.
type wait struct {
	pid    int
	status syscall.WaitStatus
}

func (g *process) run() int {
	// The first order is the first term: without one there is nothing to start.
	first, ok := g.orders.first()
	if !ok || first.At == nil {
		return 0
	}
	g.last = Now()
	g.term.last = g.last
	g.term.renew(g.last, *first.At, first.Term)
	if g.term.stopDue() {
		g.why = ReasonLate
		g.report(Report{Ended: &End{Status: 128 + int(syscall.SIGTERM), Why: g.why, Sent: g.sent}})
		return 0
	}
	if err := g.start(); err != nil {
		g.report(Report{Failed: &Failure{Message: err.Error(), Missing: errors.Is(err, fs.ErrNotExist)}})
		return 0
	}
	g.report(Report{Started: g.pgid})
	go g.wait()
	go g.orders.announce(g.arrived)
	end := g.watch()
	g.report(Report{Ended: &end})
	if g.said != nil {
		select {
		case <-g.said:
		case <-time.After(time.Second): // a terminal that is held must not hold us
		}
	}
	return 0
}

// start starts COMMAND. The signals that a terminal or a person may send to the
// guard itself must not end it; they are caught rather than ignored, because
// COMMAND would inherit that. SIGTTOU comes after: whoever is in the background
// and ignores it may write to the terminal whatever its settings are.
func (g *process) start() error {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(s) {
			signal.Notify(g.signals, s)
		}
	}
	pid, err := syscall.ForkExec(g.path, g.argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: commandAttr(),
	})
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGTTOU)
	g.pgid = pid
	return nil
}

// wait tells what becomes of the children, until none is left.
func (g *process) wait() {
	defer close(g.waits)
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		default:
			g.waits <- wait{pid, ws}
		}
	}
}
