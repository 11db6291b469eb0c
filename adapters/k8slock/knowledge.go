package k8slock

import (
	"slices"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// knowledge is what a lock knows of its election. Nothing here talks to a store
// or looks at a clock.
type knowledge struct {
	// base is the version that the next write replaces: what the last request
	// brought or stored. Nil after a request that failed.
	base *entry.RaceEntry
	own  bool // base was written by this lock

	// mine are the writes of this lock that are base, or may become it: those
	// that were built on the version with the nonce builtOn ("": on nothing)
	// and whose outcome is unknown.
	mine    []attempt
	builtOn string

	seen    string        // the nonce of the version last seen; "" for nothing
	since   time.Duration // Reading.AtLeast when it was first seen
	ever    bool          // something was stored here at some time
	number  entry.ElectionNumber
	fence   int64         // the highest fencing token seen
	longest time.Duration // the longest term seen

	// storeTime is the last Date of any answer, and storeSent when the request for
	// it was about to be sent (Reading.AtMost).
	storeTime time.Time
	storeSent time.Duration
}

// attempt is a write of this lock.
type attempt struct {
	nonce string
	sent  time.Duration // Reading.AtMost
}

// maxAttempts bounds mine. Forgetting one costs a wait, never safety.
const maxAttempts = 32

// saw notes an entry that an answer brought, and returns the attempt that wrote
// it, if this lock did.
func (k *knowledge) saw(e *entry.RaceEntry, sent, got core.Reading) *attempt {
	k.told(e.Token, sent)
	if !k.ever || k.seen != e.Nonce {
		k.seen, k.since = e.Nonce, got.AtLeast
	}
	k.ever = true
	k.number = max(k.number, e.ElectionNumber)
	k.fence = max(k.fence, e.FencingToken)
	k.longest = max(k.longest, e.TermLength)
	k.build(e.Nonce)
	i := slices.IndexFunc(k.mine, func(a attempt) bool { return a.nonce == e.Nonce })
	k.base, k.own = e, i >= 0
	if i < 0 {
		return nil
	}
	return &k.mine[i]
}

// sawNothing notes that nothing is stored, and returns how long to wait until it
// may be written: an entry that vanished may have been deleted under a leader.
func (k *knowledge) sawNothing(e *entry.RaceEntry, sent, got core.Reading, term time.Duration) time.Duration {
	k.told(e.Token, sent)
	if k.seen != "" {
		k.seen, k.since = "", got.AtLeast
	}
	k.build("")
	k.base, k.own = nil, false
	if k.ever {
		if wait := k.since + withMargin(max(k.longest, term)) - got.AtLeast; wait > 0 {
			return wait
		}
	}
	k.base = e
	return 0
}

// unread notes that a read failed. Where it brought something that is no entry,
// nothing of this lock's is stored any more.
func (k *knowledge) unread(bad bool) {
	k.base, k.own = nil, false
	if bad {
		k.ever, k.seen, k.mine = true, "bad", nil
	}
}

// build forgets the writes that cannot become the current version any more,
// now that it is the one with this nonce.
func (k *knowledge) build(on string) {
	if on != k.builtOn {
		k.mine = slices.DeleteFunc(k.mine, func(a attempt) bool { return a.nonce != on })
		k.builtOn = on
	}
}

// sending notes that a write on top of base is about to be sent. Until its answer
// is there no other may be.
func (k *knowledge) sending(a attempt) {
	k.build(k.base.Nonce)
	k.mine = append(k.mine, a)
	if extra := len(k.mine) - maxAttempts; extra > 0 {
		k.mine = slices.Delete(k.mine, 0, extra)
	}
	k.base, k.own = nil, false
}

// stored notes that e was, and what the answer said.
func (k *knowledge) stored(e *entry.RaceEntry, token entry.LeaderToken, sent, got core.Reading) {
	e.Token = token
	k.saw(e, sent, got)
}

func (k *knowledge) told(t entry.LeaderToken, sent core.Reading) {
	if d, ok := t.(core.DatedToken); ok {
		if date := d.StoreDate(); !date.IsZero() {
			k.storeTime, k.storeSent = date, sent.AtMost
		}
	}
}

// sentBy is an upper bound of the store's clock now, as core computes it; zero
// where the store never told it.
func (k *knowledge) sentBy(now core.Reading) time.Time {
	if k.storeTime.IsZero() {
		return time.Time{}
	}
	since := now.AtMost - k.storeSent
	return k.storeTime.Add(time.Second + since + since/20)
}

// nextFence is the fencing token of a reign that begins now.
func (k *knowledge) nextFence() int64 {
	if k.base.Absent() {
		return max(k.fence+1, k.storeTime.Unix(), 1)
	}
	return k.fence + 1
}
