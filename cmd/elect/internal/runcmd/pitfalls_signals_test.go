//go:build unix

package runcmd_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// hashicorp/consul#1210, #797: signals that ended the program with the lock left
// its child behind, at work. Whatever a person or a supervisor sends, COMMAND and what
// it has started is gone before the election is given up.
func TestPitfall_EverySignalReachesTheWholeGroup(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGINT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			continue // under nohup elect ignores SIGHUP too, as it should
		}
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			e, pulse := newElection(t), newPulse(t)
			// The child takes no heed of SIGTERM and SIGHUP; its shell does, of all of them.
			p := e.run("--term", term.String(), "--grace", "1s", "--", "sh", "-c", os.Args[0]+` beat `+pulse.file+` & wait`)
			child, _ := pulse.begin()
			p.signal(sig)
			if got := p.wait(); got < 128 {
				t.Errorf("exit code %d, want 128 and a signal's number", got)
			}
			if !gone(child) {
				t.Errorf("process %d outlived elect", child)
			}
			if s := e.stored(); !s.Vacant() {
				t.Errorf("%s still leads", s.LeaderID)
			}
		})
	}
}

// hashicorp/consul#2022, #9788: only the shell died, and what it had started worked
// beside the next leader. Here a child that takes no heed of anything, in
// the background of a shell that has gone, is killed with the group.
func TestPitfall_ChildrenOfAShellThatHasGone(t *testing.T) {
	t.Parallel()
	e, pulse := newElection(t), newPulse(t)
	p := e.run("--term", term.String(), "--grace", "1s", "--", "sh", "-c", `(`+os.Args[0]+` beat `+pulse.file+` &) ; exec sleep 1000`)
	child, _ := pulse.begin()
	e.plant(other(1 << 40))
	p.wait()
	if !gone(child) {
		t.Errorf("process %d outlived the leadership", child)
	}
	if e.stored().LeaderID != "other" {
		t.Error("the new leader's entry was overwritten")
	}
}
