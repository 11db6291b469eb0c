package core

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// noStore is a decider that is never asked.
type noStore struct{}

func (*noStore) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	panic("not to be asked")
}
func (*noStore) ReadCurrent(context.Context) (*entry.RaceEntry, error) { panic("not to be asked") }

// slowStore accepts one write per interval, as Cloud Storage does.
type slowStore struct {
	*noStore
	interval time.Duration
}

func (s *slowStore) MinWriteInterval() time.Duration { return s.interval }

// funcStore and mapStore are deciders that can be nil without being pointers.
type funcStore func()

func (funcStore) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return nil, nil
}
func (funcStore) ReadCurrent(context.Context) (*entry.RaceEntry, error) { return nil, nil }

type mapStore map[string]int

func (mapStore) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return nil, nil
}
func (mapStore) ReadCurrent(context.Context) (*entry.RaceEntry, error) { return nil, nil }

func gcs() RaceDecider { return &slowStore{new(noStore), time.Second} }

// faultsOf returns what Validate says, line by line, and makes sure that each
// line can be found by its sentinel.
func faultsOf(t *testing.T, c Config) []string {
	t.Helper()
	err := c.Validate()
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%T holds no list of errors", err)
	}
	var lines []string
	for _, e := range joined.Unwrap() {
		if !errors.Is(e, ErrInvalidConfig) {
			t.Errorf("%q is not ErrInvalidConfig", e)
		}
		lines = append(lines, e.Error())
	}
	return lines
}

// TestValidateFields changes one thing of a sound Config at a time.
func TestValidateFields(t *testing.T) {
	const term = 10 * time.Second
	for _, tc := range []struct {
		name   string
		change func(c *Config)
		want   string // "": sound
	}{
		{"all defaults", func(c *Config) { *c = Config{LeaderID: "me", Decider: new(noStore)} }, ""},
		{"as it is", func(c *Config) {}, ""},

		{"no name", func(c *Config) { c.LeaderID = "" }, "LeaderID"},
		{"the longest name", func(c *Config) { c.LeaderID = strings.Repeat("x", 1<<10) }, ""},
		{"a longer one", func(c *Config) { c.LeaderID = strings.Repeat("x", 1<<10+1) }, "LeaderID"},
		{"a name that is no text", func(c *Config) { c.LeaderID = "a\xff" }, "LeaderID"},
		{"an address that is no text", func(c *Config) { c.HostPort = []string{"a:1", "\xff:1"} }, "HostPort"},
		{"the most params", func(c *Config) { c.ConnectionParams = make([]byte, 64<<10) }, ""},
		{"more params", func(c *Config) { c.ConnectionParams = make([]byte, 64<<10+1) }, "ConnectionParams"},

		{"no decider", func(c *Config) { c.Decider = nil }, "Decider"},
		{"a nil pointer", func(c *Config) { c.Decider = (*noStore)(nil) }, "Decider"},
		{"a nil pointer whose limit cannot be asked for", func(c *Config) { c.Decider = (*slowStore)(nil) }, "Decider"},
		{"a nil func", func(c *Config) { c.Decider = funcStore(nil) }, "Decider"},
		{"a nil map", func(c *Config) { c.Decider = mapStore(nil) }, "Decider"},
		{"a map", func(c *Config) { c.Decider = mapStore{} }, ""},

		{"negative term", func(c *Config) { c.TermLength = -1 }, "TermLength"},
		{"negative skew", func(c *Config) { c.MaxClockSkew = -1 }, "MaxClockSkew"},
		{"negative poll", func(c *Config) { c.PollInterval = -1 }, "PollInterval"},
		{"negative renewal", func(c *Config) { c.RenewInterval = -1 }, "RenewInterval"},
		{"negative hold", func(c *Config) { c.MinHold = -1 }, "MinHold"},
		{"negative wait", func(c *Config) { c.WaitAtMost = -1 }, "WaitAtMost"},
		{"negative renewal, renewed by hand", func(c *Config) { c.RenewInterval, c.ManualRenew = -1, true }, "RenewInterval"},

		{"the shortest term", func(c *Config) { c.TermLength, c.MaxClockSkew = time.Millisecond, 0 }, ""},
		{"a shorter one", func(c *Config) { c.TermLength, c.MaxClockSkew = time.Millisecond-1, 0 }, "TermLength"},
		{"the longest term", func(c *Config) { c.TermLength = entry.MaxTermLength }, ""},
		{"a longer one ", func(c *Config) { c.TermLength = entry.MaxTermLength + 1 }, "TermLength"},
		{"the longest hold", func(c *Config) { c.MinHold = entry.MaxTermLength }, ""},
		{"a longer hold", func(c *Config) { c.MinHold = entry.MaxTermLength + 1 }, "MinHold"},

		{"half of the term for the skew", func(c *Config) { c.MaxClockSkew = term / 2 }, ""},
		{"more of it", func(c *Config) { c.MaxClockSkew = term/2 + 1 }, "MaxClockSkew"},
		{"an odd term, half rounded down", func(c *Config) { c.TermLength, c.MaxClockSkew = term+1, term/2 }, ""},
		{"an odd term, half rounded up", func(c *Config) { c.TermLength, c.MaxClockSkew = term-1, term/2 }, "MaxClockSkew"},
		{"more than the default term", func(c *Config) { c.TermLength, c.MaxClockSkew = 0, 8*time.Second }, "MaxClockSkew"},

		{"renewed every half term", func(c *Config) { c.RenewInterval = term / 2 }, ""},
		{"less often", func(c *Config) { c.RenewInterval = term/2 + 1 }, "RenewInterval"},
		{"less often, by hand", func(c *Config) { c.RenewInterval, c.ManualRenew = term/2+1, true }, ""},
		{"as often as the store allows", func(c *Config) { c.Decider, c.RenewInterval = gcs(), time.Second }, ""},
		{"more often", func(c *Config) { c.Decider, c.RenewInterval = gcs(), time.Second-1 }, "RenewInterval"},
		{"more often, by hand", func(c *Config) { c.Decider, c.RenewInterval, c.ManualRenew = gcs(), time.Second-1, true }, ""},
		{"a term that a limited store can carry", func(c *Config) { c.Decider, c.TermLength, c.MaxClockSkew = gcs(), 2*time.Second, 0 }, ""},
		{"one that it cannot", func(c *Config) { c.Decider, c.TermLength, c.MaxClockSkew = gcs(), time.Second, 0 }, "1s"},
		{"one that it cannot, by hand", func(c *Config) {
			c.Decider, c.TermLength, c.MaxClockSkew, c.ManualRenew = gcs(), time.Second, 0, true
		}, ""},
	} {
		c := Config{LeaderID: "me", Decider: new(noStore), TermLength: term, MaxClockSkew: time.Second}
		tc.change(&c)
		got := faultsOf(t, c)
		switch {
		case tc.want == "" && got != nil:
			t.Errorf("%s: %q", tc.name, got)
		case tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)):
			t.Errorf("%s: %q, want one fault about %s", tc.name, got, tc.want)
		}
		// Campaign refuses exactly what Validate refuses, before it asks anybody.
		if tc.want != "" {
			for name, call := range map[string]func() error{
				"Acquire":    func() error { return c.Acquire(t.Context()) },
				"Campaign":   func() error { _, err := c.Campaign(t.Context()); return err },
				"TryAcquire": func() error { _, err := c.TryAcquire(t.Context()); return err },
				"RunAsLeader": func() error {
					return c.RunAsLeader(t.Context(), func(context.Context, *Leadership) error { return nil })
				},
			} {
				if err := call(); !errors.Is(err, ErrInvalidConfig) {
					t.Errorf("%s: %s: %v", tc.name, name, err)
				}
			}
		}
	}
}

// TestValidateReportsEverything: who repairs one fault is not to find the next.
func TestValidateReportsEverything(t *testing.T) {
	texts := Config{LeaderID: "\xff", HostPort: []string{"\xff", "a:1", "\xfe"}, ConnectionParams: make([]byte, 1<<20)}
	negative := Config{TermLength: -1, MaxClockSkew: -1, PollInterval: -1, RenewInterval: -1, MinHold: -1, WaitAtMost: -1}
	limits := Config{LeaderID: "me", Decider: gcs(), TermLength: 4 * time.Second, MaxClockSkew: 3 * time.Second,
		RenewInterval: time.Millisecond, MinHold: entry.MaxTermLength + 1}
	for _, tc := range []struct {
		name string
		c    Config
		want []string
	}{
		{"texts", texts, []string{"LeaderID", "HostPort", "HostPort", "ConnectionParams", "Decider"}},
		{"negative", negative, []string{"LeaderID", "Decider", "TermLength", "MaxClockSkew", "PollInterval", "RenewInterval", "MinHold", "WaitAtMost"}},
		{"limits", limits, []string{"MinHold", "MaxClockSkew", "RenewInterval"}},
	} {
		got := faultsOf(t, tc.c)
		if len(got) != len(tc.want) {
			t.Errorf("%s: %q, want %d faults", tc.name, got, len(tc.want))
			continue
		}
		for i, want := range tc.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: fault %d is %q, want one about %s", tc.name, i, got[i], want)
			}
		}
	}
	err := Config{}.Acquire(t.Context())
	for _, want := range []string{"LeaderID", "Decider", "OnElected"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Acquire: %v has nothing on %s", err, want)
		}
	}
	if err := (Config{LeaderID: "me", Decider: new(noStore)}).RunAsLeader(t.Context(), nil); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("RunAsLeader without work: %v", err)
	}
}

// TestDefaults pins what a zero field means.
func TestDefaults(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, tc := range []struct {
		name                    string
		c                       Config
		term, skew, poll, renew time.Duration
	}{
		{"nothing set", Config{}, 15 * s, s, 3 * s, 5 * s},
		{"a short term", Config{TermLength: 3 * s}, 3 * s, 300 * ms, 600 * ms, s},
		{"a shorter one", Config{TermLength: s}, s, 100 * ms, 500 * ms, s / 3},
		{"a long one", Config{TermLength: 60 * s}, 60 * s, s, 5 * s, 20 * s},
		{"ten seconds", Config{TermLength: 10 * s}, 10 * s, s, 2 * s, 10 * s / 3},
		{"a limited store", Config{TermLength: 2 * s, Decider: gcs()}, 2 * s, 200 * ms, 500 * ms, s},
		{"a limited store, and time enough", Config{Decider: gcs()}, 15 * s, s, 3 * s, 5 * s},
		{"everything set", Config{TermLength: 8 * s, MaxClockSkew: 4 * s, PollInterval: 1, RenewInterval: 2}, 8 * s, 4 * s, 1, 2},
	} {
		tc.c.LeaderID = "me"
		if tc.c.Decider == nil {
			tc.c.Decider = new(noStore)
		}
		got, err := tc.c.resolve()
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got.TermLength != tc.term || got.MaxClockSkew != tc.skew || got.PollInterval != tc.poll || got.RenewInterval != tc.renew {
			t.Errorf("%s: term %v, skew %v, poll %v, renew %v; want %v, %v, %v, %v", tc.name,
				got.TermLength, got.MaxClockSkew, got.PollInterval, got.RenewInterval, tc.term, tc.skew, tc.poll, tc.renew)
		}
		if got.Clock != clocks.DefaultClock() || got.Memory == nil || got.request() != tc.term/4 {
			t.Errorf("%s: clock %T, memory %v, request %v", tc.name, got.Clock, got.Memory, got.request())
		}
	}
	limited, err := Config{LeaderID: "me", Decider: gcs()}.resolve()
	if err != nil || limited.minWrite() != time.Second {
		t.Errorf("least interval %v, %v", limited.minWrite(), err)
	}
	var m Memory
	given := Config{LeaderID: "me", Decider: new(noStore), Memory: &m, Clock: &handClock{}}
	if s, err := given.resolve(); err != nil || s.Memory != &m || s.Clock != given.Clock {
		t.Errorf("%v", err)
	}
	given.Clock = &handClock{}
	if _, err := given.resolve(); !errors.Is(err, ErrInvalidConfig) {
		t.Errorf("a Memory with another clock: %v", err)
	}
}
