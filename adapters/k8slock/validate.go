package k8slock

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// What core's candidates may have, and the largest entry that every decider reads.
// Every renewal writes it again.
const (
	maxIdentity         = 1 << 10
	maxConnectionParams = 64 << 10
	maxEntry            = 256 << 10
)

// validate returns every fault that would otherwise show at each write.
func validate(decider core.RaceDecider, identity string, o *Options) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("k8slock: "+format+": %w", append(args, core.ErrInvalidConfig)...))
	}
	switch {
	case identity == "":
		fault("the identity is empty: it names this process, and no other")
	case len(identity) > maxIdentity:
		fault("the identity has %d bytes, more than %d", len(identity), maxIdentity)
	case !utf8.ValidString(identity):
		fault("the identity %q is not UTF-8", identity)
	}
	whole := len(faults) == 0 // whether the parts of an entry are good
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
	if null.Is(decider) {
		fault("there is no decider")
	} else if w, ok := decider.(core.WriteLimiter); ok && o.RetryPeriod < w.MinWriteInterval() {
		fault("RetryPeriod %v is shorter than %v, the time that the store wants between two writes to one object", o.RetryPeriod, w.MinWriteInterval())
	}
	for _, hp := range o.HostPort {
		if !utf8.ValidString(hp) {
			fault("HostPort %q is not UTF-8", hp)
			whole = false
		}
	}
	if n := len(o.ConnectionParams); n > maxConnectionParams {
		fault("ConnectionParams has %d bytes, more than %d", n, maxConnectionParams)
		whole = false
	} else if _, err := connectionParams(o.ConnectionParams, nil); err != nil {
		fault("ConnectionParams is not a JSON object (%v)", err)
		whole = false
	}
	if whole {
		if size, err := specimen(identity, o); err != nil {
			fault("identity, HostPort and ConnectionParams make no entry (%v)", err)
		} else if size > maxEntry {
			fault("the entry has %d bytes with this HostPort and ConnectionParams, more than the %d that every store takes", size, maxEntry)
		}
	}
	return errors.Join(faults...)
}

// specimen returns how large an entry of the lock's is, or why it is none.
func specimen(identity string, o *Options) (int, error) {
	some := time.Unix(1<<31, 1).UTC()
	params, err := keep(&resourcelock.LeaderElectionRecord{
		AcquireTime: meta.NewTime(some), RenewTime: meta.NewTime(some), LeaderTransitions: math.MaxInt32,
	}, o.ConnectionParams)
	if err != nil {
		return 0, err
	}
	b, err := entry.Encode(&entry.RaceEntry{
		LeaderID: identity, HostPort: o.HostPort, ConnectionParams: params,
		TermLength: leaseDuration, TermExpiry: some, SentBy: some, ElectionNumber: math.MaxInt32, FencingToken: math.MaxInt32,
		Nonce: rand.Text(), Checkpoint: make([]byte, entry.MaxCheckpoint),
	})
	return len(b), err
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
