package runcmd

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

func TestTellerTellsEveryReasonOnce(t *testing.T) {
	var b bytes.Buffer
	told := teller{env: &cliutil.Env{Stderr: &b}}
	lead := entry.RaceEntry{LeaderID: "\x1b" + strings.Repeat("x", 1000), FencingToken: 7, Nonce: "n"}
	absent := entry.RaceEntry{ElectionNumber: entry.NoElections}
	waiting := func(e entry.RaceEntry, err error) core.Event {
		return core.Event{Kind: core.EventWaiting, Entry: e, Err: err}
	}
	unknown := func(op core.Op, text string) core.Event {
		return core.Event{Kind: core.EventRequest, Op: op, Outcome: core.OutcomeUnknown, Err: errors.New(text)}
	}
	for range 3 {
		for i, e := range []core.Event{
			waiting(lead, &core.HeldError{Current: lead, RetryAfter: time.Second}),
			unknown(core.OpRead, "no answer within 1s"),
			unknown(core.OpAcquire, "503"),
			waiting(absent, &core.HeldError{Current: absent, RetryAfter: time.Second}),
			waiting(absent, fmt.Errorf("version 5: %w", core.ErrBadEntry)),
		} {
			b.Reset()
			told.hear(e)
			told.hear(e)
			want := []string{`"\x1bxxx`, "does not answer", "does not take writes", "was deleted", "version 5: bad entry"}[i]
			if got := b.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) || len(got) > 200 {
				t.Errorf("event %d: told %q, want one line with %q", i, got, want)
			}
		}
	}
	b.Reset()
	told.hear(core.Event{Kind: core.EventElected})
	told.hear(unknown(core.OpRead, "another"))
	if b.String() != "" {
		t.Errorf("told while leading: %q", b.String())
	}
}

func TestExplainWritesNotTaken(t *testing.T) {
	free := &core.HeldError{Current: entry.RaceEntry{ElectionNumber: entry.NoElections}}
	led := &core.HeldError{Current: entry.RaceEntry{LeaderID: "x", Nonce: "n"}, RetryAfter: time.Second}
	for _, c := range []struct {
		err  error
		want int
		says string
	}{
		{fmt.Errorf("%w; %w", free, errors.New("503")), 69, "is free"},
		{errors.New("503"), 69, "is free"},
		{led, 75, `"x" leads`},
		{core.ErrBroken, 78, ""},
	} {
		err := explain(c.err, errors.New("503"))
		if cliutil.CodeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: exit code %d, %v; want %d and %q", c.err, cliutil.CodeOf(err), err, c.want, c.says)
		}
	}
}

func TestBadEntryIsLoggedOncePerChange(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(&oncePerChange{Handler: slog.NewTextHandler(&b, nil), state: new(logged)})
	for _, text := range []string{"version 1", "version 1", "version 2", "version 2"} {
		log.Error("election: blocked", "event", "bad-entry", "error", text)
		log.Warn("election: renewal without an answer", "event", "request", "error", "503")
	}
	log.Info("election: another leader", "event", "leader-changed")
	log.Error("election: blocked", "event", "bad-entry", "error", "version 2")
	if got := strings.Count(b.String(), "event=bad-entry"); got != 3 {
		t.Errorf("%d lines about bad entries, want 3: %s", got, b.String())
	}
}

// The lines are the engine's own: if those change, this must.
func TestBadEntryOfTheEngineIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		store := memory.NewDecider()
		store.PlantRaw([]byte("not an entry"))
		cfg := core.Config{LeaderID: "a", Decider: store, WaitAtMost: time.Minute,
			Logger: slog.New(&oncePerChange{Handler: slog.NewTextHandler(&b, nil), state: new(logged)})}
		if _, err := cfg.Campaign(t.Context()); !errors.Is(err, core.ErrBadEntry) {
			t.Error(err)
		}
		reads, _ := store.Requests()
		if got := strings.Count(b.String(), "event=bad-entry"); got != 1 || reads < 10 {
			t.Errorf("%d lines about bad entries in %d reads, want 1: %s", got, reads, b.String())
		}
	})
}

func TestLateNamesTheCause(t *testing.T) {
	for want, why := range map[string]reasons{
		"elect itself was stopped for 7s": {frozen: 7 * time.Second, failed: errors.New("503")},
		"grant it":                        {failed: errors.New("grant it")},
		"the guard process":               {},
	} {
		if got := why.late(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
