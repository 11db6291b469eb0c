package core

import (
	"errors"
	"reflect"
	"slices"

	"github.com/cloudelect/cloudelect/core/entry"
)

// Outcome is what an answer of the store says about a request.
type Outcome int

const (
	// OutcomeUnknown: a write may have been stored; a read learned nothing.
	OutcomeUnknown Outcome = iota
	// OutcomeStored: the write is durable.
	OutcomeStored
	// OutcomeLost: proved not stored, another version is current.
	OutcomeLost
	// OutcomeBroken: not stored, and trying again cannot help.
	OutcomeBroken
	// OutcomeRead: a read was answered.
	OutcomeRead
	// OutcomeBadEntry: a read was answered with content that is no entry.
	OutcomeBadEntry
)

// String returns the outcome's name as events and logs have it.
func (o Outcome) String() string {
	switch o {
	case OutcomeStored:
		return "stored"
	case OutcomeLost:
		return "lost"
	case OutcomeBroken:
		return "broken"
	case OutcomeRead:
		return "read"
	case OutcomeBadEntry:
		return "bad-entry"
	}
	return "unknown"
}

// MarshalText makes an outcome readable in JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// writeOutcome sorts the answer to a write. A decider that says "stored"
// without a token has left out what the next write needs: read it back.
func writeOutcome(tok entry.LeaderToken, err error) Outcome {
	var lost FailedAcquisitionErr
	switch {
	case err == nil && isNilPointer(tok):
		return OutcomeUnknown
	case err == nil:
		return OutcomeStored
	case errors.As(err, &lost) && !isNilPointer(lost):
		return OutcomeLost
	case errors.Is(err, ErrBroken):
		return OutcomeBroken
	}
	return OutcomeUnknown
}

// readOutcome sorts the answer to a read.
func readOutcome(e *entry.RaceEntry, err error) Outcome {
	switch {
	case err == nil && e == nil:
		return OutcomeUnknown
	case err == nil && !believable(e):
		return OutcomeBadEntry
	case err == nil:
		return OutcomeRead
	case errors.Is(err, ErrBadEntry):
		return OutcomeBadEntry
	case errors.Is(err, ErrBroken):
		return OutcomeBroken
	}
	return OutcomeUnknown
}

// isNilPointer finds nil, also inside an interface: what a decider returns
// that forgot to set it.
func isNilPointer(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice:
		return r.IsNil()
	}
	return false
}

// believable tells whether a decider may have read e: it is not ours to trust
// that every one of them validates.
func believable(e *entry.RaceEntry) bool {
	if e.Absent() {
		return e.Vacant() && e.Nonce == ""
	}
	return validate(e) == nil
}

// validate is the check that e's form has.
func validate(e *entry.RaceEntry) error {
	if e.Foreign() != "" {
		return e.ValidateForeign()
	}
	return e.Validate()
}

// attempt is one write that was sent and not yet proved to be dead.
type attempt struct {
	nonce string
	// sent is just before it was sent: what it grants counts from there.
	sent instant
	// vacates: it was the end of a reign, not the beginning or a renewal.
	vacates bool
}

// standing is where a set of attempts stands after a look at the store.
type standing int

const (
	// standingOurs: one of the attempts is what is stored.
	standingOurs standing = iota
	// standingBase: the version that the attempts build on is still current.
	// Any of them may still arrive.
	standingBase
	// standingForeign: something else is current. None of the attempts is, nor
	// can it ever be.
	standingForeign
)

// stand compares what is stored with the attempts that were built on base. It
// is the only judge of unknown answers, and of "lost" ones too: a proxy may
// have sent a write twice, and then the second answer says lost although the
// first was stored.
func stand(attempts []attempt, base, stored *entry.RaceEntry) standing {
	switch {
	case !stored.Absent() && find(attempts, stored.Nonce) >= 0:
		return standingOurs
	case stored.Absent() && base.Absent() || sameVersion(base, stored):
		return standingBase
	}
	return standingForeign
}

// find returns the index of the attempt with this nonce, or -1.
func find(attempts []attempt, nonce string) int {
	return slices.IndexFunc(attempts, func(a attempt) bool { return a.nonce == nonce })
}

// lostCurrent returns the entry that came with a lost race, if one did that
// can be believed.
func lostCurrent(err error) *entry.RaceEntry {
	var lost *LostRaceError
	if errors.As(err, &lost) && lost != nil && lost.Current != nil && believable(lost.Current) {
		return lost.Current
	}
	return nil
}
