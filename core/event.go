package core

import (
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// EventKind says what an Event tells.
type EventKind int

const (
	// EventRequest: the store answered a request, or did not. Op, Outcome,
	// Latency and Err are set, ClockOffset where the answer told the store's time.
	EventRequest EventKind = iota
	// EventWaiting: a candidate looked and has no proof. Entry, Err (a
	// *HeldError, or what the store said) and Wait are set.
	EventWaiting
	// EventElected: this candidate won. Entry and Proof are set.
	EventElected
	// EventRenewed: a renewal was confirmed. Entry is set.
	EventRenewed
	// EventEnded: the reign is over. Entry and Err (why) are set.
	EventEnded
	// EventResigned: the store confirmed the resignation. Entry is what is
	// stored now.
	EventResigned
	// EventNotResigned: the store did not confirm the resignation. Err is set.
	EventNotResigned
	// EventLeaderChanged: what LeaderChanged is called for. Entry is set.
	EventLeaderChanged
	// EventBadEntry: what is stored is not an entry; the election is blocked.
	EventBadEntry
	// EventVanished: an entry that was seen is gone.
	EventVanished
	// EventClockOffset: the store's clock and the local wall clock are proved
	// to be more than MaxClockSkew apart. ClockOffset is set. Told again only
	// after they agreed in between.
	EventClockOffset
	// EventMissed: the hook was too slow for the last events. Missed is set.
	EventMissed
)

var eventKinds = [...]string{"request", "waiting", "elected", "renewed", "ended", "resigned",
	"not-resigned", "leader-changed", "bad-entry", "vanished", "clock-offset", "missed"}

// String returns the kind's name as logs have it.
func (k EventKind) String() string {
	if k < 0 || int(k) >= len(eventKinds) {
		return fmt.Sprintf("EventKind(%d)", int(k))
	}
	return eventKinds[k]
}

// MarshalText makes a kind readable in JSON.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Op is what a request was for.
type Op int

const (
	// OpRead: a look at the entry.
	OpRead Op = iota
	// OpAcquire: a write that would begin a reign.
	OpAcquire
	// OpRenew: a write that would prolong one.
	OpRenew
	// OpResign: a write that would end one.
	OpResign
)

// String returns the operation's name as logs have it.
func (o Op) String() string {
	switch o {
	case OpRead:
		return "read"
	case OpAcquire:
		return "acquire"
	case OpRenew:
		return "renew"
	case OpResign:
		return "resign"
	}
	return fmt.Sprintf("Op(%d)", int(o))
}

// MarshalText makes an operation readable in JSON.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Event is one thing that happened. Which fields are set depends on Kind.
type Event struct {
	Kind     EventKind
	Time     time.Time // on the local wall clock
	LeaderID string    // of the candidate whose event this is
	Entry    entry.RaceEntry
	Proof    Proof
	Op       Op
	Outcome  Outcome
	Latency  time.Duration // of a request, on the local clocks
	Wait     time.Duration // until the next read
	// ClockOffset is by how much the local wall clock is proved to be ahead
	// (positive) or behind (negative) of the store's; zero where they may agree.
	ClockOffset time.Duration
	Err         error
	// Missed counts the events just before this one that the hook was too slow for.
	Missed int
}
