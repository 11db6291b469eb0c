// Package hostclock is the clock of the host that elect runs on, for all its
// commands: what they judge by and what they print as local time.
//
// It is the system's clock, and in an ordinary build nothing can change that. A
// build with the tag chaos is for finding out what becomes of elect on a host whose
// clock is wrong: there the environment variable ELECT_CHAOS_CLOCK_OFFSET, a Go
// duration like -3h or 90m, sets this clock, and not the machine's, ahead or behind.
//
// Three things go by the system's clock all the same. The AWS SDK signs requests by
// it and takes no other; emulators/netfault has a gate with a clock of its own for
// that. Certificates and the credentials' own ends are judged by Go's libraries. And
// package guard measures how much time has passed, in several processes at once,
// where an offset that never changes makes no difference.
package hostclock

import (
	"time"

	"github.com/vimeo/go-clocks"
)

// OffsetVar is the variable that sets the clock of a chaos build.
const OffsetVar = "ELECT_CHAOS_CLOCK_OFFSET"

// New returns the clock of this host. An error says what is wrong with OffsetVar;
// ordinary builds do not look at it and have none.
func New() (clocks.Clock, error) { return fromEnvironment() }

// Ahead is by how much a clock is ahead of the system's; 0 of the system's own. It is
// for what was measured by the system's clock because it could not be told of
// another: deciders read no clock, and what probes them does not know of elect's.
func Ahead(c clocks.Clock) time.Duration {
	if c == clocks.DefaultClock() {
		return 0
	}
	return c.Now().Round(0).Sub(time.Now().Round(0))
}
