package runcmd

import (
	"os"
	"os/signal"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
)

// Windows has no process groups, so run refuses before any of this is called.

func catch(c chan os.Signal) func()  { signal.Notify(c, os.Interrupt); return func() { signal.Stop(c) } }
func asksToEnd(sig os.Signal) bool   { return sig == os.Interrupt }
func endsWaiting(sig os.Signal) bool { return sig == os.Interrupt }
func signalNumber(os.Signal) int     { return 2 }
func pass(*guard.Guard, os.Signal)   {}
func openTerminal() *terminal        { return &terminal{} }
func (r *reign) suspended(int)       {}

type terminal struct{}

func (*terminal) back()  {}
func (*terminal) close() {}
