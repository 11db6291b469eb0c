package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

func TestMemberIdentity(t *testing.T) {
	number := uint64(1<<64 - 1)
	for _, tc := range []struct {
		id     string
		number *uint64
		want   string
	}{
		{"a", nil, "a"}, {"a", &number, "a"}, {"", &number, "18446744073709551615"}, {"", new(uint64), "0"},
	} {
		bubble(t, func(t *testing.T, w *world) {
			m := w.member("a", nil)
			m.config.MemberID, m.config.MemberUniqueID = tc.id, tc.number
			ctx, cancel := context.WithCancel(t.Context())
			m.work = func(context.Context) {
				if got := w.stored(t).LeaderID; got != tc.want {
					t.Errorf("leads as %q, want %q", got, tc.want)
				}
				cancel()
			}
			if err := w.elect(t, ctx, m).wait(); err != nil {
				t.Error(err)
			}
			m.wantNews(t, tc.want)
		})
	}
}

// The zero LeaseDurationSeconds is the default of Config, and what the caller
// changes afterwards changes nothing.
func TestMemberDefaultsAndCopies(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.config.LeaseDurationSeconds, m.config.OnEvent = 0, nil
		ctx, cancel := context.WithCancel(t.Context())
		e := w.elect(t, ctx, m)
		time.Sleep(time.Second)
		synctest.Wait()
		m.config.HostPort[0], m.config.MemberID = "changed", "changed"
		time.Sleep(time.Minute)
		m.wantNews(t, "a")
		if s := w.stored(t); s.TermLength != 15*time.Second || s.HostPort[0] != "a.example:7000" || s.LeaderID != "a" {
			t.Errorf("stored: %+v", s)
		}
		cancel()
		if err := e.wait(); err != nil {
			t.Error(err)
		}
	})
}

// Hundreds of elections log to one place: every line has the name.
func TestMemberLogsTheElection(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var out bytes.Buffer
		m := w.member("a", nil)
		m.config.OnEvent = nil
		m.config.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		ctx, cancel := context.WithCancel(t.Context())
		m.work = func(context.Context) { cancel() }
		if err := w.elect(t, ctx, m).wait(); err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for _, line := range lines {
			if !strings.Contains(line, "election=nightly") {
				t.Errorf("a line without the election's name: %s", line)
			}
		}
		if len(lines) < 5 || !strings.Contains(out.String(), "resigned") {
			t.Errorf("logged:\n%s", out.String())
		}
	})
}

// Every fault is reported at once, and nothing is opened or called.
func TestMemberConfigFaults(t *testing.T) {
	var nilClock *skewclock.Clock
	for says, spoil := range map[string]func(c *core.LeaderElectionConfig){
		"Name is empty":           func(c *core.LeaderElectionConfig) { c.Name = "" },
		"MemberID is empty":       func(c *core.LeaderElectionConfig) { c.MemberID = "" },
		"MemberID has 1025 bytes": func(c *core.LeaderElectionConfig) { c.MemberID = strings.Repeat("x", 1025) },
		"is not UTF-8":            func(c *core.LeaderElectionConfig) { c.MemberID = "\xff" },
		`HostPort "\xfe"`:         func(c *core.LeaderElectionConfig) { c.HostPort = []string{"ok", "\xfe"} },
		"LeaseDurationSeconds is -1,": func(c *core.LeaderElectionConfig) {
			c.LeaseDurationSeconds = -1
		},
		"LeaseDurationSeconds is 315360001,": func(c *core.LeaderElectionConfig) {
			c.LeaseDurationSeconds = int64(entry.MaxTermLength/time.Second) + 1
		},
		// As a Duration this would overflow to 10 seconds or so.
		"LeaseDurationSeconds is 18446744083,": func(c *core.LeaderElectionConfig) { c.LeaseDurationSeconds = 18446744083 },
		"Open is nil":                          func(c *core.LeaderElectionConfig) { c.Open = nil },
		"OnStartedLeading is nil":              func(c *core.LeaderElectionConfig) { c.Callbacks.OnStartedLeading = nil },
		"OnStoppedLeading is nil":              func(c *core.LeaderElectionConfig) { c.Callbacks.OnStoppedLeading = nil },
		"OnNewLeader is nil":                   func(c *core.LeaderElectionConfig) { c.Callbacks.OnNewLeader = nil },
		"Clock is a nil":                       func(c *core.LeaderElectionConfig) { c.Clock = nilClock },
	} {
		t.Run(says, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := w.member("a", nil)
				spoil(&m.config)
				err := core.RunElection(t.Context(), &m.config)
				if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), says) || strings.Count(err.Error(), "\n") != 0 {
					t.Errorf("%v, want %q and nothing else", err, says)
				}
				m.wantStory(t, "")
				m.host.door.wantRequests(t, "a refused election", 0, 0)
			})
		})
	}
	err := core.RunElection(t.Context(), &core.LeaderElectionConfig{LeaseDurationSeconds: -1})
	for _, says := range []string{"Name", "MemberID", "LeaseDurationSeconds", "Open", "OnStartedLeading", "OnStoppedLeading", "OnNewLeader"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not name %s", err, says)
		}
	}
	if err := core.RunElection(t.Context(), nil); !errors.Is(err, core.ErrInvalidConfig) {
		t.Errorf("without a config: %v", err)
	}
}

// A lease that is too short for the store is found when that is open.
func TestMemberWhoseLeaseIsTooShortForTheStore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		m := w.member("a", nil)
		m.config.Open = func(context.Context, string) (core.RaceDecider, error) { return w.store.Limited(time.Second), nil }
		m.config.LeaseDurationSeconds = 1
		err := w.elect(t, t.Context(), m).wait()
		wantOnly(t, err, core.ErrInvalidConfig)
		for _, says := range []string{"LeaseDurationSeconds 1", "RenewInterval 1s"} {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v does not say %q", err, says)
			}
		}
		m.wantStory(t, "")

		m = w.member("a", nil)
		m.config.Open = func(context.Context, string) (core.RaceDecider, error) { return w.store.Limited(time.Second), nil }
		m.config.LeaseDurationSeconds = 2 // the store's interval is kept
		ctx, cancel := context.WithCancel(t.Context())
		e := w.elect(t, ctx, m)
		time.Sleep(time.Minute)
		if n := w.stored(t).ElectionNumber; n < 55 || n > 60 {
			t.Errorf("%d writes in a minute", n)
		}
		cancel()
		if err := e.wait(); err != nil {
			t.Error(err)
		}
	})
}

var errOpen = errors.New("no such bucket")

func TestMemberOpen(t *testing.T) {
	var nobody *door
	for name, tc := range map[string]struct {
		open func(context.Context, string) (core.RaceDecider, error)
		is   error
		says string
	}{
		"fails":     {func(context.Context, string) (core.RaceDecider, error) { return nil, errOpen }, errOpen, "could not be opened: no such bucket"},
		"nothing":   {func(context.Context, string) (core.RaceDecider, error) { return nil, nil }, core.ErrInvalidConfig, "neither a store nor an error"},
		"typed nil": {func(context.Context, string) (core.RaceDecider, error) { return nobody, nil }, core.ErrInvalidConfig, "neither a store nor an error"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				m := w.member("a", nil)
				m.config.Open = tc.open
				err := w.elect(t, t.Context(), m).wait()
				if !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), `"nightly"`) {
					t.Error(err)
				}
				m.wantStory(t, "")
			})
		})
	}
}

// What Open makes may be bound to its context: it has to serve for the resignation.
func TestMemberOpenContextOutlivesTheElection(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		type key struct{}
		m := w.member("a", nil)
		var opened context.Context
		m.config.Open = func(ctx context.Context, name string) (core.RaceDecider, error) {
			if name != "nightly" || ctx.Value(key{}) != "value" {
				t.Errorf("opened %q, value %v", name, ctx.Value(key{}))
			}
			opened = ctx
			return &bound{m.host.door, ctx}, nil
		}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		e := w.elect(t, ctx, m)
		time.Sleep(term)
		cancel()
		if err := e.wait(); err != nil || !w.stored(t).Vacant() {
			t.Errorf("%v, stored %+v", err, w.stored(t))
		}
		if opened.Err() == nil {
			t.Error("its context lasts longer than RunElection")
		}
	})
}

// bound fails once its context has ended, like a client that was made with one.
type bound struct {
	core.RaceDecider
	ctx context.Context
}

func (b *bound) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if b.ctx.Err() != nil {
		return nil, fmt.Errorf("the client is closed: %w", b.ctx.Err())
	}
	return b.RaceDecider.WriteEntry(ctx, e)
}
