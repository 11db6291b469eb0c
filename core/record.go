package core

import (
	"slices"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// record is what one process knows about one election: the version it last
// saw and since when, and what it must not forget. It is a value; nothing in
// this file looks at a clock or a store.
type record struct {
	// current is the version last seen; for sightAbsent and sightBad only its
	// token means anything. Entries are never changed once they are here.
	current *entry.RaceEntry
	sight   sight
	// seen is when the answer that first showed this version (or first showed
	// nothing, or something unreadable) had arrived.
	seen time.Duration // by both clocks: instant.sure
	// date is the store's clock on the latest answer that brought this
	// version, and dateAt when that answer had arrived; zero if it had none.
	date   time.Time
	dateAt time.Duration // on the monotonic clock

	// ever: something was stored here at some time.
	ever bool
	// longest is the longest term that any entry seen here granted.
	longest time.Duration
	// number and token are the highest ones seen.
	number entry.ElectionNumber
	token  int64
	// storeTime is the last Date of any answer, and storeSent when the request
	// for that answer was about to be sent.
	storeTime time.Time
	storeSent time.Duration // by the clocks' larger steps: instant.elapsed
	// ended are nonces of reigns of this process that are over, the newest last.
	ended []string
	// hold keeps this process from winning again sooner than MinHold allows.
	hold hold
}

// sight is what the latest answer showed.
type sight int

const (
	sightNone   sight = iota // no answer so far
	sightEntry               // an entry
	sightAbsent              // nothing is stored
	sightBad                 // something that is not an entry
)

// hold: the reign with this token was won here, and nothing is to be won
// before so much time has passed for sure (instant.sure).
type hold struct {
	token int64
	until time.Duration
}

// maxEnded bounds the nonces that a record keeps. Forgetting one costs a wait,
// never safety.
const maxEnded = 32

// newRecord is the knowledge of a process that has seen nothing.
func newRecord() record { return record{number: entry.NoElections, current: noEntry()} }

// noEntry is the entry of an election that nothing is known of.
func noEntry() *entry.RaceEntry { return &entry.RaceEntry{ElectionNumber: entry.NoElections} }

// sameVersion tells whether two entries are one version. The nonce alone would
// do: it is drawn for every write. Foreign entries have none; for them everything
// counts that a proof rests on, so that whatever changes is observed anew.
func sameVersion(a, b *entry.RaceEntry) bool {
	return a.ElectionNumber == b.ElectionNumber && a.Nonce == b.Nonce && a.LeaderID == b.LeaderID &&
		(a.Nonce != "" || a.TermExpiry.Equal(b.TermExpiry) && a.TermLength == b.TermLength)
}

// told notes the store's clock from any answer.
func (r *record) told(date time.Time, sent instant) {
	if !date.IsZero() {
		r.storeTime, r.storeSent = date, sent.elapsed
	}
}

// saw notes an entry that an answer brought. sent is just before the request
// was sent, got is when its answer had arrived: an observation must not count
// from before that.
func (r *record) saw(e *entry.RaceEntry, sent, got instant) {
	date := storeDate(e.Token)
	r.told(date, sent)
	if e.Absent() {
		r.restart(sightAbsent, got)
		r.current = e
		return
	}
	if r.sight != sightEntry || !sameVersion(r.current, e) {
		r.seen = got.sure
	}
	r.sight, r.current = sightEntry, e
	r.date, r.dateAt = date, got.mono
	r.ever = true
	r.longest = max(r.longest, e.TermLength)
	r.number = max(r.number, e.ElectionNumber)
	r.token = max(r.token, e.FencingToken)
}

// sawBad notes that something is stored that is not an entry.
func (r *record) sawBad(e *entry.RaceEntry, sent, got instant) {
	r.told(storeDate(e.Token), sent)
	r.restart(sightBad, got)
	r.current = e
	r.ever = true
}

func (r *record) restart(s sight, got instant) {
	if r.sight != s {
		r.seen = got.sure
	}
	r.sight = s
	r.date, r.dateAt = time.Time{}, 0
}

// end notes that the reigns which these nonces belong to are over.
func (r *record) end(nonces ...string) {
	for _, n := range nonces {
		if n != "" && !slices.Contains(r.ended, n) {
			r.ended = append(r.ended, n)
		}
	}
	if extra := len(r.ended) - maxEnded; extra > 0 {
		r.ended = slices.Delete(r.ended, 0, extra)
	}
}

// sentBy is an upper bound of the store's clock at now, or zero where the
// store never told it. The Date is in whole seconds, cut off; the answer was
// made after its request was sent; and a clock that is slow by a twentieth, or
// was frozen in between, must not make the bound too low.
func (r *record) sentBy(now instant) time.Time {
	if r.storeTime.IsZero() {
		return time.Time{}
	}
	since := now.elapsed - r.storeSent
	return r.storeTime.Add(time.Second + since + since/20)
}

// nextNumber names the version that would replace the current one.
func (r *record) nextNumber() entry.ElectionNumber {
	if r.sight == sightEntry {
		return r.current.ElectionNumber + 1
	}
	return r.number + 1
}

// nextToken is the fencing token for a reign won now: above the stored one and
// above every other that this process has seen, so that a deleted entry does
// not bring old tokens back. A foreign entry says nothing about the tokens that were
// handed out before it, only that they are older: each was below the store's
// time then, or below the number of its version.
func (r *record) nextToken() int64 {
	next := r.token + 1
	switch {
	case r.sight != sightEntry:
		next = max(next, r.storeTime.Unix(), 1)
	case r.current.Foreign() != "":
		next = max(next, r.storeTime.Unix()+1, commitTime(r.current).Unix()+1, int64(r.current.ElectionNumber)+1)
	}
	return next
}

// commitTime is when the store took e in, by its own clock; zero where it does not say.
func commitTime(e *entry.RaceEntry) time.Time {
	if isNilPointer(e.Token) {
		return time.Time{}
	}
	return e.Token.CommitTS()
}

// offset is by how much the local wall clock is proved to be ahead (+) or
// behind (-) of a store's Date that arrived between two looks at it; zero
// where the two may agree.
func offset(date time.Time, sent, got instant) time.Duration {
	if ahead := sent.wall.Sub(date.Add(time.Second)); ahead > 0 {
		return ahead
	}
	return min(got.wall.Sub(date), 0)
}
