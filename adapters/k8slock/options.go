package k8slock

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
)

// Options are what a Lock can do without. Nil or the zero value: the durations
// that client-go's programs and controller-runtime have by default.
type Options struct {
	// LeaseDuration, RenewDeadline and RetryPeriod are those of the elector that
	// gets the lock: 0 is 15 s, 10 s and 2 s. What they leave over,
	// LeaseDuration - RenewDeadline - RetryPeriod, is the time that the store's
	// answers may take: at least 200 ms, and better two seconds or more.
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration

	// Reclaim is a promise: whoever bore this identity before cannot run any
	// more. The lock then takes over an unexpired lease of its own identity
	// without waiting. Without it, such a lease counts as another's.
	Reclaim bool

	// Name is what Describe and client-go's log lines call the lock; "": the
	// decider's own name, where it has one.
	Name string
	// HostPort is stored while this lock leads, for those who follow the leader.
	HostPort []string
	// ConnectionParams too. It has to be a JSON object, a gRPC service config for
	// example, of 64 KiB at most; the lock adds the member "k8slock" to it.
	ConnectionParams []byte
	// OnEvent is told what client-go passes to RecordEvent ("became leader",
	// "stopped leading"), on client-go's goroutine. Nil: nobody is.
	OnEvent func(event string)
	// Clock is what the lock measures time with; nil: the system's. client-go
	// always uses the system's.
	Clock clocks.Clock
}

const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
	// leastCall is the shortest time in which a store can be expected to answer.
	leastCall = 100 * time.Millisecond
	// ownMember is what the lock adds to ConnectionParams.
	ownMember = "k8slock"
)

// filled returns the options with their defaults.
func (o *Options) filled(decider core.RaceDecider) Options {
	var f Options
	if o != nil {
		f = *o
	}
	if f.LeaseDuration == 0 {
		f.LeaseDuration = leaseDuration
	}
	if f.RenewDeadline == 0 {
		f.RenewDeadline = renewDeadline
	}
	if f.RetryPeriod == 0 {
		f.RetryPeriod = retryPeriod
	}
	if f.Clock == nil {
		f.Clock = clocks.DefaultClock()
	}
	if f.Name == "" {
		f.Name = fmt.Sprintf("%T", decider)
		if s, ok := decider.(fmt.Stringer); ok {
			f.Name = s.String()
		}
	}
	f.HostPort = slices.Clone(f.HostPort)
	f.ConnectionParams = bytes.Clone(f.ConnectionParams)
	return f
}

// slack is what the elector's durations leave for the store's answers.
func (o *Options) slack() time.Duration { return o.LeaseDuration - o.RenewDeadline - o.RetryPeriod }

// callTimeout bounds one request. The last write that was stored may have taken
// so long, and, where the elector releases, so may a read before it tells the
// work to stop: two of them fit into the slack.
func (o *Options) callTimeout() time.Duration { return min(o.slack()/2, o.LeaseDuration/4) }
