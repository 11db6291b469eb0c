//go:build unix

package runcmd

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
)

// catch has the signals that elect acts on sent to c, until the returned function
// is called. What whoever started elect wants ignored (nohup, a shell without job
// control in the background) stays ignored, for COMMAND too.
func catch(c chan os.Signal) func() {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH} {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	// A pipe that nobody reads is an error of its write, and no reason to leave
	// COMMAND behind.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// asksToEnd: the signals that ask elect to end, with COMMAND.
func asksToEnd(sig os.Signal) bool { return sig == syscall.SIGINT || sig == syscall.SIGTERM }

// endsWaiting: the signals that end a candidate. While leading, what to do about
// the others is up to COMMAND.
func endsWaiting(sig os.Signal) bool {
	return slices.Contains([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}, sig)
}

func signalNumber(sig os.Signal) int {
	n, _ := sig.(syscall.Signal)
	return int(n)
}

// pass passes a signal on to COMMAND's group.
func pass(g *guard.Guard, sig os.Signal) {
	if n, ok := sig.(syscall.Signal); ok {
		g.Signal(n)
	}
}
