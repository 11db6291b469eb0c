package core

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// The sentinels of this package. Branch on them with errors.Is; the typed
// errors carry the data.
var (
	// ErrLostRace: a write was not stored, because another one came first.
	ErrLostRace = errors.New("core: lost the race: another write came first")
	// ErrBroken: the store refuses for a reason that only a person can remove
	// (permission, missing bucket, retention policy, wrong region).
	ErrBroken = errors.New("core: the store cannot carry this election")
	// ErrBadEntry: what is stored is not an entry this program understands. It
	// blocks the election until an operator breaks it ("elect break").
	ErrBadEntry = entry.ErrBad
	// ErrInvalidConfig: a Config or a parameter contradicts itself.
	ErrInvalidConfig = errors.New("core: invalid configuration")
	// ErrHeld: no proof that the election is free; see HeldError.
	ErrHeld = errors.New("core: the election is held")
	// ErrLeadershipLost ends a reign: another version was proved to be stored.
	ErrLeadershipLost = errors.New("core: leadership lost: another write replaced this reign")
	// ErrTermExpired ends a reign: the term passed without a confirmed renewal.
	ErrTermExpired = errors.New("core: leadership ended: the term expired before a renewal was confirmed")
	// ErrResigned ends a reign: its leader gave it up.
	ErrResigned = errors.New("core: leadership ended: resigned")
	// ErrNotResigned: the reign is over, but the store did not confirm the
	// resignation: the next leader has to wait until the term is over.
	ErrNotResigned = errors.New("core: resignation not confirmed by the store")
)

// FailedAcquisitionErr is the proof that an entry was not stored because
// another write came first. Find it with errors.As.
type FailedAcquisitionErr interface {
	error
	FailedAcquire()
}

// LostRaceError is the deciders' FailedAcquisitionErr. It Is ErrLostRace.
type LostRaceError struct {
	// Current is what is stored now with its token, when the store's answer
	// said so; nil when it has to be read.
	Current *entry.RaceEntry
	// Err is the store's own error, for people.
	Err error
}

// FailedAcquire marks the error as a proof that nothing was stored.
func (*LostRaceError) FailedAcquire() {}

// Error says who won, where that is known.
func (e *LostRaceError) Error() string {
	if e == nil { // Go's classical mistake: a nil pointer returned as an error
		return "core: a nil *LostRaceError"
	}
	var b strings.Builder
	b.WriteString(ErrLostRace.Error())
	if c := e.Current; c != nil && !c.Absent() {
		fmt.Fprintf(&b, " (stored now: leader %q, election number %d)", c.LeaderID, c.ElectionNumber)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Is makes every LostRaceError an ErrLostRace.
func (e *LostRaceError) Is(target error) bool { return e != nil && target == ErrLostRace }

// Unwrap returns the store's own error.
func (e *LostRaceError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// HeldError says that there is no proof, yet, that the last reign is over, or that
// another one came first. It Is ErrHeld. It always comes from something that the
// store has shown: where the store did not answer, or did not take the write although
// the election was free, the error is what the store said, and no HeldError.
type HeldError struct {
	// Current is the entry that holds the election, as this call has last seen
	// it; after a lost race it is the winner's. It is vacant if nobody is known to
	// lead: within this process's own MinHold, after a lost race whose winner has
	// left again, and where what is stored is not an entry. It is absent if the
	// entry was deleted, maybe under a leader.
	Current entry.RaceEntry
	// RetryAfter is how long it takes, if nobody writes in the meantime, until
	// a proof can hold for a caller that keeps its Memory. 0 after a lost race. The
	// largest Duration if none ever can, because what is stored is not an entry;
	// the error that a call returns then Is ErrBadEntry as well.
	RetryAfter time.Duration
	// Reason says for each proof why it does not hold now, for people.
	Reason string
}

// Error names the leader, the wait and the reasons.
func (e *HeldError) Error() string {
	if e == nil {
		return "core: a nil *HeldError"
	}
	who := fmt.Sprintf("held by %q with fencing token %d", e.Current.LeaderID, e.Current.FencingToken)
	switch {
	case e.Current.Foreign() != "":
		who = fmt.Sprintf("held by %q (an entry of %s)", e.Current.LeaderID, e.Current.Foreign())
	case e.Current.Absent():
		who = "not free yet: nothing is stored any more"
	case e.Current.Vacant() && e.Current.Nonce == "":
		who = "closed by content that is not an entry"
	case e.Current.Vacant():
		who = "open: nobody leads"
	}
	when := fmt.Sprintf("a proof can hold in %v", e.RetryAfter.Round(time.Millisecond))
	switch e.RetryAfter {
	case never:
		when = "no proof can hold before an operator acts"
	case 0:
		when = "try again"
	}
	return fmt.Sprintf("core: the election is %s; %s (%s)", who, when, e.Reason)
}

// Is makes every HeldError an ErrHeld.
func (*HeldError) Is(target error) bool { return target == ErrHeld }
