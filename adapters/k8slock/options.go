package k8slock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
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
	// example; the lock adds the member "k8slock" to it.
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

func validate(decider core.RaceDecider, identity string, o *Options) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("k8slock: "+format+": %w", append(args, core.ErrInvalidConfig)...))
	}
	switch {
	case identity == "":
		fault("the identity is empty: it names this process, and no other")
	case !utf8.ValidString(identity):
		fault("the identity %q is not UTF-8", identity)
	}
	switch {
	case o.LeaseDuration <= 0 || o.RenewDeadline < 0 || o.RetryPeriod < 0:
		fault("LeaseDuration %v, RenewDeadline %v and RetryPeriod %v: none may be negative", o.LeaseDuration, o.RenewDeadline, o.RetryPeriod)
	case o.LeaseDuration%time.Second != 0:
		fault("LeaseDuration %v is not in whole seconds: client-go would cut the rest off", o.LeaseDuration)
	case o.LeaseDuration > entry.MaxTermLength:
		fault("LeaseDuration %v is longer than %v", o.LeaseDuration, entry.MaxTermLength)
	case o.slack() < 2*leastCall:
		fault("LeaseDuration %v leaves %v beyond RenewDeadline %v and RetryPeriod %v: it has to be %v at least, so that a leader has stopped when its lease is over",
			o.LeaseDuration, o.slack(), o.RenewDeadline, o.RetryPeriod, 2*leastCall)
	}
	if nothing(decider) {
		fault("there is no decider")
	} else if w, ok := decider.(core.WriteLimiter); ok && o.RetryPeriod < w.MinWriteInterval() {
		fault("RetryPeriod %v is shorter than %v, the time that the store wants between two writes to one object", o.RetryPeriod, w.MinWriteInterval())
	}
	if _, err := connectionParams(o.ConnectionParams, nil); err != nil {
		fault("ConnectionParams is not a JSON object (%v)", err)
	}
	return errors.Join(faults...)
}

// nothing tells whether d is nil, or a nil pointer in an interface.
func nothing(d core.RaceDecider) bool {
	if d == nil {
		return true
	}
	v := reflect.ValueOf(d)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// connectionParams returns params with the member that is the lock's own.
func connectionParams(params []byte, own json.RawMessage) ([]byte, error) {
	members := map[string]json.RawMessage{}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &members); err != nil {
			return nil, err
		}
		if members == nil { // "null"
			return nil, errors.New("it is null")
		}
	}
	if own != nil {
		members[ownMember] = own
	}
	return json.Marshal(members)
}
