package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// ErrDuplicateMember ends a RunElection: another process that runs uses this
// member's ID in the same election.
var ErrDuplicateMember = errors.New("core: duplicate member: another running process has this member's ID")

// LeaderElectionConfig says for RunElection who takes part in which election.
// RunElection works on a copy.
type LeaderElectionConfig struct {
	// Name is the election's: all its members use the same. Open is given it, and
	// every error and log line has it.
	Name string
	// MemberID is unique among the members that can run at the same time, and is
	// what OnNewLeader is told. A host's name is not enough where one host can
	// run two members. At most 1024 bytes of UTF-8.
	MemberID string
	// MemberUniqueID, in decimal, is the identity where MemberID is empty.
	MemberUniqueID *uint64
	// LeaseDurationSeconds is how long a leadership lasts from its last renewal:
	// Config.TermLength. 0 means 15. It is renewed three times as often, or
	// as often as the store allows.
	LeaseDurationSeconds int64
	// HostPort is where others can reach this member when it leads.
	HostPort []string
	// Open returns the store of the election with this name. It is called once.
	// Its context ends early if RunElection's ends while Open runs; otherwise it
	// outlives that one, because resigning needs the store, and ends when
	// RunElection returns. RunElection closes nothing: elections that share a
	// client get one that was made outside.
	Open func(ctx context.Context, name string) (RaceDecider, error)
	// Callbacks are all needed.
	Callbacks LeaderCallbacks

	// ResignWithin bounds how long RunElection tries to resign when the store does not
	// answer; 0: 10 s, which is what platforms give a process to end. Giving up loses
	// nothing: the next leader then waits for the term's end.
	ResignWithin time.Duration
	// Clock is where all time comes from; nil means the system's.
	Clock clocks.Clock
	// Logger gets one line per event that a person wants to know; nil: silent.
	Logger *slog.Logger
	// OnEvent is told everything, like Config.OnEvent.
	OnEvent func(Event)
}

// LeaderCallbacks are what RunElection calls. None of them runs any more when
// it has returned, so one that hangs keeps it from returning. A panic in one is
// the program's own: it is not recovered, nothing is resigned, and the next
// leader waits for the end of the term.
type LeaderCallbacks struct {
	// OnStartedLeading runs in its own goroutine when this member leads. Its
	// context ends with the leadership, with the cause that Leadership.Context
	// has; FromContext finds the Leadership with its FencingToken. Returning
	// does not end the leadership.
	OnStartedLeading func(context.Context)
	// OnStoppedLeading runs once if OnStartedLeading was called, after the context of
	// that one has ended. It does not wait for it: it may be what makes it return. A
	// program that exits here does not resign.
	OnStoppedLeading func()
	// OnNewLeader is told the identity of the first leader seen and of every other
	// one that follows, this member included. Renewals are not told, nor is a
	// vacancy, but after one the same identity is told again. Calls come in order, on a
	// goroutine that never delays the election; none is left out.
	OnNewLeader func(identity string)
}

// identity is the LeaderID in the entry.
func (c *LeaderElectionConfig) identity() string {
	if c.MemberID == "" && c.MemberUniqueID != nil {
		return strconv.FormatUint(*c.MemberUniqueID, 10)
	}
	return c.MemberID
}

// config is what the member campaigns with.
func (c *LeaderElectionConfig) config(d RaceDecider) Config {
	cfg := Config{
		LeaderID: c.identity(), HostPort: slices.Clone(c.HostPort), Decider: d,
		TermLength: time.Duration(c.LeaseDurationSeconds) * time.Second,
		Clock:      c.Clock, OnEvent: c.OnEvent,
		ResignWithin: cmp.Or(c.ResignWithin, resignWithin),
	}
	if c.Logger != nil {
		cfg.Logger = c.Logger.With(slog.String("election", c.Name))
	}
	return cfg
}

// resignWithin is the default of LeaderElectionConfig.ResignWithin.
const resignWithin = 10 * time.Second

// validate reports every fault that shows before the store is opened.
func (c *LeaderElectionConfig) validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrInvalidConfig, fmt.Sprintf(format, args...)))
	}
	if c.Name == "" {
		fault("Name is empty: all members of one election use the same name")
	}
	switch {
	case c.identity() == "":
		fault("MemberID is empty and MemberUniqueID is nil: give every member an ID of its own")
	case len(c.MemberID) > maxLeaderID:
		fault("MemberID has %d bytes, more than %d", len(c.MemberID), maxLeaderID)
	case !utf8.ValidString(c.MemberID):
		fault("MemberID %q is not UTF-8", c.MemberID)
	}
	const longest = int64(entry.MaxTermLength / time.Second)
	if c.LeaseDurationSeconds < 0 || c.LeaseDurationSeconds > longest {
		fault("LeaseDurationSeconds is %d, not between 0 (for the default) and %d", c.LeaseDurationSeconds, longest)
	}
	for _, hp := range c.HostPort {
		if !utf8.ValidString(hp) {
			fault("HostPort %q is not UTF-8", hp)
		}
	}
	if c.ResignWithin < 0 {
		fault("ResignWithin is %v: give a positive duration, or 0 for %v", c.ResignWithin, resignWithin)
	}
	if c.Open == nil {
		fault("Open is nil: there is no store to campaign in")
	}
	if c.Callbacks.OnStartedLeading == nil {
		fault("Callbacks.OnStartedLeading is nil")
	}
	if c.Callbacks.OnStoppedLeading == nil {
		fault("Callbacks.OnStoppedLeading is nil")
	}
	if c.Callbacks.OnNewLeader == nil {
		fault("Callbacks.OnNewLeader is nil")
	}
	if c.Clock != nil && isNilPointer(c.Clock) {
		fault("Clock is a nil %T", c.Clock)
	}
	return errors.Join(faults...)
}
