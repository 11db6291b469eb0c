package core

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// Config says who campaigns, where, and how. The zero value of every field but
// LeaderID and Decider is a sound default. Its methods work on a copy: a
// Config may be changed, or used again, while an election runs.
type Config struct {
	// OnElected runs in its own goroutine once per reign. Its context ends
	// with the reign; expirationTime moves with every renewal. Returning does
	// not end the reign. Only Acquire calls it, and needs it.
	OnElected func(ctx context.Context, expirationTime *TimeView)
	// OnOusting runs once per OnElected, after that one's context has ended,
	// with Acquire's own context. It does not wait for OnElected: it may be
	// what makes OnElected return.
	OnOusting func(ctx context.Context)
	// LeaderChanged is called with the new entry for the first leader seen and
	// for every change of leader or of reign, one's own included, and when the
	// election becomes vacant; never for a renewal. Calls come in order; one
	// that is slow misses all but the newest.
	LeaderChanged func(ctx context.Context, e entry.RaceEntry)
	// LeaderID names this candidate. No two candidates that can run at the same
	// time may share one.
	LeaderID string
	// HostPort is where others can reach this candidate when it leads.
	HostPort []string
	// Decider is the store of the election.
	Decider RaceDecider
	// TermLength is how long a reign lasts from its last renewal; 0 means 15 s.
	// It is how long the election stays closed after a leader has crashed, and
	// how long a store may fail before the leader has to stop.
	TermLength time.Duration
	// MaxClockSkew bounds how far wall clocks, and the store's servers among
	// each other, are apart; 0 means the smaller of 1 s and TermLength/10.
	MaxClockSkew time.Duration
	// ConnectionParams is for those who connect to the leader.
	ConnectionParams []byte
	// Clock is where all time comes from; nil means the system's.
	Clock clocks.Clock

	// PollInterval is how often a waiting candidate reads; 0 means
	// TermLength/5, at least 500 ms and at most 5 s.
	PollInterval time.Duration
	// RenewInterval is how often a leader renews; 0 means TermLength/3, or the
	// store's least interval between writes if that is longer.
	RenewInterval time.Duration
	// MinHold is the least time between two wins: nobody, this process
	// included, wins again sooner than this after a win. A leader that crashes
	// keeps the election closed for its term only.
	MinHold time.Duration
	// WaitAtMost makes Campaign and RunAsLeader give up when they were not
	// elected by then: with a *HeldError if the election is not free, otherwise
	// with what the store said (see Campaign). 0 waits until the context ends.
	// It does not bound the reign.
	WaitAtMost time.Duration
	// ResignWithin bounds how long Acquire and RunAsLeader try to resign when the
	// store does not answer; 0: until the term would have ended anyway. Giving
	// up loses nothing: the next leader then waits for the term's end.
	ResignWithin time.Duration
	// Memory is what this process remembers of this one election between
	// calls; nil: each call starts afresh.
	Memory *Memory
	// Reclaim is a promise: whoever bore this LeaderID before cannot run any
	// more. Its unexpired term may then be taken over at once.
	Reclaim bool
	// NoClockProof says that wall clocks of other hosts are not to be believed.
	NoClockProof bool
	// ManualRenew leaves renewing to the caller (Leadership.Renew). No
	// goroutine is left running between calls, only a timer.
	ManualRenew bool
	// Wake makes a waiting candidate read now instead of at the next poll, at
	// most once per 100 ms. It proves nothing. A closed channel is as good as nil.
	Wake <-chan struct{}
	// Logger gets one line per event that a person wants to know; nil: silent.
	Logger *slog.Logger
	// OnEvent is told everything, in order, on a goroutine of its own. It never
	// delays the election: what it is too slow for is counted in Event.Missed.
	OnEvent func(Event)
}

const defaultTermLength = 15 * time.Second

// settings is a Config with every default filled in, the same for the whole
// life of a call.
type settings struct {
	Config
	// leaderNoted is told at once, under the lock of the hooks, what LeaderChanged
	// is called for: nothing is left out. It blocks for nothing. Only RunElection sets it.
	leaderNoted func(e *entry.RaceEntry)
}

// minWrite is the store's least interval between two writes, or 0.
func (s *settings) minWrite() time.Duration { return writeInterval(s.Decider) }

// request bounds one request: one lost answer must not eat the term.
func (s *settings) request() time.Duration { return s.TermLength / 4 }

// resolve returns c's settings, or what Validate says against it.
func (c Config) resolve() (*settings, error) {
	s := &settings{Config: c}
	if err := s.complete(); err != nil {
		return nil, err
	}
	return s, nil
}

// complete fills in the defaults, unless Validate refuses the Config.
func (s *settings) complete() error {
	if err := s.Validate(); err != nil {
		return err
	}
	s.Config = s.withDefaults()
	s.HostPort, s.ConnectionParams = slices.Clone(s.HostPort), bytes.Clone(s.ConnectionParams)
	if s.Memory == nil {
		s.Memory = new(Memory)
	}
	return s.Memory.attach(s.Clock)
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clocks.DefaultClock()
	}
	if c.TermLength == 0 {
		c.TermLength = defaultTermLength
	}
	if c.MaxClockSkew == 0 {
		c.MaxClockSkew = min(time.Second, c.TermLength/10)
	}
	if c.PollInterval == 0 {
		c.PollInterval = pollInterval(c.TermLength)
	}
	if c.RenewInterval == 0 {
		c.RenewInterval = max(c.TermLength/3, writeInterval(c.Decider))
	}
	return c
}

// pollInterval is the default for an election with this term.
func pollInterval(term time.Duration) time.Duration {
	return min(max(term/5, 500*time.Millisecond), 5*time.Second)
}

func writeInterval(d RaceDecider) time.Duration {
	if l, ok := d.(WriteLimiter); ok {
		return l.MinWriteInterval()
	}
	return 0
}
