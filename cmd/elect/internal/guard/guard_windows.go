package guard

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// Supported tells whether this system has what a guard needs.
const Supported = false

// Guard needs process groups, which Windows has not.
type Guard struct{}

// Main refuses.
func Main(_ []string, stderr io.Writer) int {
	fmt.Fprintln(stderr, "elect: there is no guard on Windows, which has no process groups")
	return 64
}

// Now looks at the clocks.
func Now() Reading { return Reading{Wall: time.Duration(time.Now().UnixNano())} }

// Start refuses.
func Start(_, _ string, _, _ []string) (*Guard, error) {
	return nil, errors.New("guard: Windows has no process groups")
}

// The rest is never called, because Start does not succeed.

func (*Guard) Reports() <-chan Report      { return nil }
func (*Guard) Note(Report)                 {}
func (*Guard) PGID() int                   { return 0 }
func (*Guard) Term(time.Duration, Reading) {}
func (*Guard) Stop(Reason, time.Duration)  {}
func (*Guard) Signal(syscall.Signal)       {}
func (*Guard) KillGroup()                  {}
func (*Guard) TakeOver(time.Duration) bool { return true }
func (*Guard) Close()                      {}
