//go:build unix

package runcmd_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
)

// stubborn starts elect with a COMMAND that takes no heed of SIGTERM and has a
// child that does not, either.
func stubborn(t *testing.T, flags ...string) (*election, *program, pulse) {
	t.Helper()
	return newElection(t).stubborn(flags...)
}

func (e *election) stubborn(flags ...string) (*election, *program, pulse) {
	e.t.Helper()
	pulse := newPulse(e.t)
	flags = append([]string{"--term", term.String()}, flags...)
	p := e.run(append(flags, "--", os.Args[0], "beat-with-child", pulse.file)...)
	pulse.begin()
	pulse.child().begin()
	return e, p, pulse
}

// goneBefore checks that COMMAND and its child did not live at the instant end.
func goneBefore(t *testing.T, p pulse, end time.Time) {
	t.Helper()
	for _, p := range []pulse{p, p.child()} {
		if at := p.end(); !at.Before(end) {
			t.Errorf("COMMAND lived %v after the term", at.Sub(end))
		}
	}
}

func TestElectKilled(t *testing.T) {
	t.Parallel()
	e, p, pulse := stubborn(t)
	p.signal(syscall.SIGKILL)
	p.wait()
	goneBefore(t, pulse, e.stored().TermExpiry)
}

func TestElectStopped(t *testing.T) {
	t.Parallel()
	e, p, pulse := stubborn(t)
	p.signal(syscall.SIGSTOP)
	// A renewal under way may still be stored; that would only move the end.
	goneBefore(t, pulse, e.stored().TermExpiry)
	p.signal(syscall.SIGCONT)
	if got := p.wait(); got != cliutil.ExitLost {
		t.Errorf("exit code after going on: %d, want %d", got, cliutil.ExitLost)
	}
	says(t, p, "elect itself was stopped for")
}

// With a store that does not answer any more, COMMAND is stopped in time.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	e, p, pulse := newElectionApart(t).stubborn()
	e.server.Close()
	end := e.stored().TermExpiry // what is stored can still be looked at
	if got := p.wait(); got != cliutil.ExitLost {
		t.Errorf("exit code %d, want %d", got, cliutil.ExitLost)
	}
	goneBefore(t, pulse, end)
}

func TestLeadershipLost(t *testing.T) {
	t.Parallel()
	e, p, pulse := stubborn(t, "--grace", "1s")
	end := e.stored().TermExpiry
	e.plant(other(time.Hour))
	if got := p.wait(); got != cliutil.ExitLost {
		t.Errorf("exit code %d, want %d", got, cliutil.ExitLost)
	}
	// One renewal may have come between.
	goneBefore(t, pulse, end.Add(term/2))
	if e.stored().LeaderID != "other" {
		t.Error("the new leader's entry was overwritten")
	}
}

func TestCommandStoppedAndLeadershipLost(t *testing.T) {
	t.Parallel()
	e, p, pulse := stubborn(t, "--grace", "1s")
	pid, _ := pulse.begin()
	if err := syscall.Kill(-pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	e.plant(other(time.Hour))
	if got := p.wait(); got != cliutil.ExitLost {
		t.Errorf("exit code %d, want %d", got, cliutil.ExitLost)
	}
	pulse.end()
	pulse.child().end()
}

func TestGuardKilled(t *testing.T) {
	t.Parallel()
	e, p, pulse := stubborn(t)
	_, guard := pulse.begin()
	if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := p.wait(); got != cliutil.ExitInternal {
		t.Errorf("exit code %d, want %d", got, cliutil.ExitInternal)
	}
	pulse.end()
	pulse.child().end()
	if s := e.stored(); !s.Vacant() {
		t.Errorf("%s still leads", s.LeaderID)
	}
}

// With the guard stopped and leadership lost, elect does the guard's work.
func TestGuardStoppedAndLeadershipLost(t *testing.T) {
	t.Parallel()
	e, p, pulse := stubborn(t, "--grace", "1s")
	_, guard := pulse.begin()
	if err := syscall.Kill(guard, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	e.plant(other(time.Hour))
	if got := p.wait(); got != cliutil.ExitLost {
		t.Errorf("exit code %d, want %d", got, cliutil.ExitLost)
	}
	pulse.end()
	pulse.child().end()
}

// Elect and its guard killed at once: COMMAND itself still dies, on Linux.
func TestElectAndGuardKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is nothing like PR_SET_PDEATHSIG here; documented")
	}
	_, p, pulse := stubborn(t)
	child, _ := pulse.child().begin()
	t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	_, guard := pulse.begin()
	p.signal(syscall.SIGSTOP)
	if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGKILL)
	pulse.end()
}

// A guard that was frozen kills as its first act when the term has passed.
func TestBothStoppedThenGuardGoesOn(t *testing.T) {
	t.Parallel()
	e, p, pulse := stubborn(t)
	_, guard := pulse.begin()
	p.signal(syscall.SIGSTOP)
	if err := syscall.Kill(guard, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the term is over", func() bool { return time.Now().After(e.stored().TermExpiry) })
	if err := syscall.Kill(guard, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	pulse.end()
	pulse.child().end()
}
