//go:build unix

package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Guard is elect's handle on its guard. Its methods are for one goroutine.
type Guard struct {
	process *os.Process
	orders  *os.File
	reports chan Report
	pgid    int
}

// Supported tells whether this system has what a guard needs.
const Supported = true

// Start starts executable as a guard for the program at path with argv (its name
// included) and environment env. The guard waits for the first Term.
func Start(executable, path string, argv, env []string) (*Guard, error) {
	adopt()
	ordersR, ordersW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	defer ordersR.Close()
	reportsR, reportsW, err := os.Pipe()
	if err != nil {
		ordersW.Close()
		return nil, fmt.Errorf("guard: %w", err)
	}
	defer reportsW.Close()
	p, err := os.StartProcess(executable, append([]string{executable, marker, path}, argv...), &os.ProcAttr{
		Env:   env,
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, ordersR, reportsW},
		Sys:   &syscall.SysProcAttr{Setpgid: true}, // Ctrl-C is for elect to judge
	})
	if err != nil {
		ordersW.Close()
		reportsR.Close()
		return nil, fmt.Errorf("guard: %w", err)
	}
	g := &Guard{process: p, orders: ordersW, reports: make(chan Report)}
	go func() {
		defer close(g.reports)
		defer reportsR.Close()
		for d := json.NewDecoder(reportsR); ; {
			var r Report
			if d.Decode(&r) != nil {
				return
			}
			g.reports <- r
		}
	}()
	return g, nil
}

// Reports are what the guard tells. They end with the guard; if the last one was
// not Ended or Failed, it was killed.
func (g *Guard) Reports() <-chan Report { return g.reports }

// Note keeps what elect needs of a report if the guard dies.
func (g *Guard) Note(r Report) {
	if r.Started != 0 {
		g.pgid = r.Started
	}
}

// PGID is COMMAND's process group, 0 while it is not known.
func (g *Guard) PGID() int { return g.pgid }

// Term tells of a confirmed write that was sent after at and grants length.
func (g *Guard) Term(length time.Duration, at Reading) { g.send(order{Term: length, At: &at}) }

// Stop has the group stopped: SIGTERM now, SIGKILL after grace or before the term
// ends. Asked again it can only come sooner.
func (g *Guard) Stop(why Reason, grace time.Duration) { g.send(order{Stop: why, Grace: grace}) }

// Signal passes sig on to the group.
func (g *Guard) Signal(sig syscall.Signal) { g.send(order{Signal: int(sig)}) }

// send must not wait for a guard that is stopped: the pipe takes hundreds of
// orders, and what does not fit is lost on one that does not read.
func (g *Guard) send(o order) {
	b, err := json.Marshal(o)
	if err != nil {
		return
	}
	_ = g.orders.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	_, _ = g.orders.Write(append(b, '\n')) // a guard that is gone shows in Reports
}

// KillGroup kills COMMAND's group past the guard.
func (g *Guard) KillGroup() { signalGroup(g.pgid, syscall.SIGKILL) }

// TakeOver ends a guard that died or does not react, and kills COMMAND's group in
// its place. It tells whether the group is gone.
func (g *Guard) TakeOver(patience time.Duration) (gone bool) {
	g.KillGroup()
	_ = g.process.Kill()
	g.Close()
	if g.pgid == 0 {
		return true // killed before it told: COMMAND dies with it, or was never started
	}
	return killGroup(g.pgid, patience)
}

// Close lets go of a guard that has told its last, and waits until it is gone. A
// guard that has not takes it for elect's death.
func (g *Guard) Close() {
	if err := g.orders.Close(); errors.Is(err, os.ErrClosed) {
		return
	}
	// One that is stopped on its way out has nothing left to do.
	timer := time.AfterFunc(5*time.Second, func() { _ = g.process.Kill() })
	defer timer.Stop()
	for range g.reports {
	}
	_, _ = g.process.Wait()
}
