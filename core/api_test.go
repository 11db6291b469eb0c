package core_test

import (
	"context"
	"iter"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// What follows compiles only while every name that callers rely on has the type
// that docs/ARCHITECTURE.md promises. Names may be added; none of these may go.

var (
	_ entry.ElectionNumber                          = entry.NoElections
	_ int64                                         = int64(entry.ElectionNumber(-1))
	_ func(entry.RaceEntry) bool                    = entry.RaceEntry.Vacant
	_ interface{ CommitTS() time.Time }             = entry.LeaderToken(nil)
	_ entry.LeaderToken                             = interface{ CommitTS() time.Time }(nil)
	_ func() *memory.Decider                        = memory.NewDecider
	_ core.RaceDecider                              = (*memory.Decider)(nil)
	_ func(clocks.Clock) *core.TimeView             = core.NewTimeView
	_ func(*core.TimeView) clocks.Clock             = (*core.TimeView).Clock
	_ func(*core.TimeView) time.Time                = (*core.TimeView).Get
	_ func(*core.TimeView, time.Time)               = (*core.TimeView).Set
	_ func(*core.TimeView) bool                     = (*core.TimeView).ValueInFuture
	_ func(string) ([]string, error)                = core.SelfHostPorts
	_ core.FailedAcquisitionErr                     = (*core.LostRaceError)(nil)
	_ error                                         = (*core.HeldError)(nil)
	_ core.WriteLimiter                             = interface{ MinWriteInterval() time.Duration }(nil)
	_ interface{ StoreDate() time.Time }            = core.DatedToken(nil)
	_ entry.LeaderToken                             = core.DatedToken(nil)
	_ interface{ MinWriteInterval() time.Duration } = core.WriteLimiter(nil)
)

// The interfaces have these methods and no other ones.
var (
	_ interface {
		WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error)
		ReadCurrent(ctx context.Context) (*entry.RaceEntry, error)
	} = core.RaceDecider(nil)
	_ interface {
		error
		FailedAcquire()
	} = core.FailedAcquisitionErr(nil)
	_ interface {
		Probe(ctx context.Context) (core.ProbeReport, error)
	} = core.Prober(nil)
	_ core.RaceDecider = interface {
		WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error)
		ReadCurrent(ctx context.Context) (*entry.RaceEntry, error)
	}(nil)
	_ core.FailedAcquisitionErr = interface {
		error
		FailedAcquire()
	}(nil)
	_ core.DatedToken = interface {
		entry.LeaderToken
		StoreDate() time.Time
	}(nil)
	_ core.Prober = interface {
		Probe(ctx context.Context) (core.ProbeReport, error)
	}(nil)
)

var (
	_ func(core.Config) error                                                                 = core.Config.Validate
	_ func(core.Config, context.Context) error                                                = core.Config.Acquire
	_ func(core.Config, context.Context) (*core.Leadership, error)                            = core.Config.Campaign
	_ func(core.Config, context.Context) (*core.Leadership, error)                            = core.Config.TryAcquire
	_ func(core.Config, context.Context, func(context.Context, *core.Leadership) error) error = core.Config.RunAsLeader

	_ func(*core.Leadership) context.Context                                        = (*core.Leadership).Context
	_ func(*core.Leadership) int64                                                  = (*core.Leadership).FencingToken
	_ func(*core.Leadership) *core.TimeView                                         = (*core.Leadership).Expiration
	_ func(*core.Leadership) error                                                  = (*core.Leadership).Check
	_ func(*core.Leadership, context.Context) error                                 = (*core.Leadership).Renew
	_ func(*core.Leadership, context.Context) error                                 = (*core.Leadership).Resign
	_ func(*core.Leadership, context.Context, []byte) error                         = (*core.Leadership).ResignWith
	_ func(*core.Leadership, context.Context) (context.Context, context.CancelFunc) = (*core.Leadership).Bind
	_ func(*core.Leadership) time.Time                                              = (*core.Leadership).LastRenewed
	_ func(*core.Leadership) []byte                                                 = (*core.Leadership).Checkpoint
	_ func(*core.Leadership, context.Context, []byte) error                         = (*core.Leadership).SaveCheckpoint
	_ func(*core.Leadership) entry.RaceEntry                                        = (*core.Leadership).Entry
	_ func(context.Context) (*core.Leadership, bool)                                = core.FromContext

	_ func(context.Context, *core.LeaderElectionConfig) error = core.RunElection
	_ func(context.Context, *core.LeaderElectionConfig) error = core.RunElectionOrDie

	_ func(core.WatchConfig, context.Context, func(context.Context, entry.RaceEntry)) error = core.WatchConfig.Watch
	_ func(core.WatchConfig, context.Context) iter.Seq2[entry.RaceEntry, error]             = core.WatchConfig.Updates
)

var _ = []error{core.ErrLostRace, core.ErrBroken, core.ErrBadEntry, core.ErrInvalidConfig, core.ErrHeld,
	core.ErrLeadershipLost, core.ErrTermExpired, core.ErrResigned, core.ErrDuplicateMember}

// The fields with their types.
type (
	pinnedEntry struct {
		LeaderID         string
		HostPort         []string
		TermExpiry       time.Time
		TermLength       time.Duration
		SentBy           time.Time
		ElectionNumber   entry.ElectionNumber
		FencingToken     int64
		Nonce            string
		ConnectionParams []byte
		Checkpoint       []byte
		Held             bool
		Token            entry.LeaderToken
	}
	pinnedConfig struct {
		OnElected        func(ctx context.Context, expirationTime *core.TimeView)
		OnOusting        func(ctx context.Context)
		LeaderChanged    func(ctx context.Context, e entry.RaceEntry)
		LeaderID         string
		HostPort         []string
		Decider          core.RaceDecider
		TermLength       time.Duration
		MaxClockSkew     time.Duration
		ConnectionParams []byte
		Clock            clocks.Clock
		PollInterval     time.Duration
		RenewInterval    time.Duration
		MinHold          time.Duration
		WaitAtMost       time.Duration
		Memory           *core.Memory
		Reclaim          bool
		NoClockProof     bool
		ManualRenew      bool
		Wake             <-chan struct{}
		Logger           *slog.Logger
		OnEvent          func(core.Event)
	}
	pinnedElection struct {
		Name                 string
		MemberID             string
		MemberUniqueID       *uint64
		LeaseDurationSeconds int64
		HostPort             []string
		Open                 func(ctx context.Context, name string) (core.RaceDecider, error)
		Callbacks            core.LeaderCallbacks
	}
	pinnedCallbacks struct {
		OnStartedLeading func(context.Context)
		OnStoppedLeading func()
		OnNewLeader      func(identity string)
	}
	pinnedLost struct {
		Current *entry.RaceEntry
		Err     error
	}
	pinnedHeld struct {
		Current    entry.RaceEntry
		RetryAfter time.Duration
		Reason     string
	}
	pinnedWatch struct {
		Decider      core.RaceDecider
		Clock        clocks.Clock
		PollInterval time.Duration
	}
)

// TestFieldsStay: a struct may get more fields, but keeps these.
func TestFieldsStay(t *testing.T) {
	for _, tc := range []struct{ pinned, real any }{
		{pinnedEntry{}, entry.RaceEntry{}}, {pinnedConfig{}, core.Config{}}, {pinnedLost{}, core.LostRaceError{}},
		{pinnedHeld{}, core.HeldError{}},
		{pinnedElection{}, core.LeaderElectionConfig{}}, {pinnedCallbacks{}, core.LeaderCallbacks{}}, {pinnedWatch{}, core.WatchConfig{}},
	} {
		real := reflect.TypeOf(tc.real)
		for want := range reflect.TypeOf(tc.pinned).Fields() {
			if got, ok := real.FieldByName(want.Name); !ok || got.Type != want.Type {
				t.Errorf("%v.%s has type %v, want %v", real, want.Name, got.Type, want.Type)
			}
		}
	}
	if entry.NoElections != -1 {
		t.Errorf("NoElections is %d", entry.NoElections)
	}
}
