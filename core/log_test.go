package core

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// TestLogLines: one line per event, with what a person looks for and what to do,
// and at a level that lets routine be switched off.
func TestLogLines(t *testing.T) {
	mine := entry.RaceEntry{LeaderID: "me", FencingToken: 42, ElectionNumber: 77, TermLength: 15 * time.Second}
	other, held, vacant := mine, mine, mine
	other.LeaderID, held.Held, vacant.LeaderID, vacant.Nonce = "other", true, "", "n"
	absent := entry.RaceEntry{ElectionNumber: entry.NoElections}
	waits := &HeldError{Current: other, RetryAfter: 2340567 * time.Microsecond, Reason: "clock: not yet"}
	for _, tc := range []struct {
		e     Event
		level string
		says  []string
	}{
		{Event{Kind: EventElected, Entry: mine, Proof: ProofStoreTime}, "INFO",
			[]string{`"election: elected leader" event=elected candidate=me leader=me fencing_token=42 election_number=77 proof=store-time term=15s`}},
		{Event{Kind: EventRenewed, Entry: mine}, "DEBUG", []string{"term renewed", "fencing_token=42"}},
		{Event{Kind: EventEnded, Entry: mine, Err: ErrTermExpired}, "WARN", []string{"ended: it could not be renewed in time", ErrTermExpired.Error(), "do="}},
		{Event{Kind: EventEnded, Entry: mine, Err: ErrLeadershipLost}, "WARN", []string{"ended: another write replaced it", "do="}},
		{Event{Kind: EventEnded, Entry: mine, Err: ErrResigned}, "INFO", []string{"ended: resigned"}},
		{Event{Kind: EventEnded, Entry: mine, Err: errors.New("SIGTERM")}, "INFO", []string{"ended: its context has ended", "SIGTERM"}},
		{Event{Kind: EventEnded, Entry: mine, Err: context.Canceled}, "INFO", []string{"ended: its context has ended"}},
		{Event{Kind: EventResigned, Entry: vacant}, "INFO", []string{"event=resigned candidate=me fencing_token=42"}},
		{Event{Kind: EventNotResigned, Err: errors.New("503")}, "WARN", []string{"event=not-resigned", "did not confirm", "503", "do="}},
		{Event{Kind: EventLeaderChanged, Entry: other}, "INFO", []string{"another candidate is the leader now", "leader=other"}},
		{Event{Kind: EventLeaderChanged, Entry: mine}, "INFO", []string{"the entry names this candidate as the leader", "event=leader-changed"}},
		{Event{Kind: EventLeaderChanged, Entry: held}, "INFO", []string{"keeps the election closed"}},
		{Event{Kind: EventLeaderChanged, Entry: absent}, "INFO", []string{"nobody leads any more"}},
		{Event{Kind: EventBadEntry, Err: ErrBadEntry}, "ERROR", []string{"event=bad-entry", "blocked", ErrBadEntry.Error(), "elect break"}},
		{Event{Kind: EventVanished}, "WARN", []string{"event=vanished", "was deleted", "do="}},
		{Event{Kind: EventClockOffset, ClockOffset: time.Hour}, "WARN", []string{"event=clock-offset", "ahead of the store", "by_at_least=1h0m0s", "do="}},
		{Event{Kind: EventClockOffset, ClockOffset: -time.Hour}, "WARN", []string{"behind the store", "by_at_least=1h0m0s"}},
		{Event{Kind: EventWaiting, Wait: time.Second, Entry: other, Err: waits}, "DEBUG",
			[]string{"waiting: another candidate leads", "leader=other", `next_read_in=1s free_in=2.34057s reason="clock: not yet"`}},
		{Event{Kind: EventWaiting, Wait: 12345678 * time.Microsecond, Entry: mine, Err: waits}, "DEBUG", []string{"earlier life of this candidate", "next_read_in=12.35s"}},
		{Event{Kind: EventWaiting, Entry: held, Err: waits}, "DEBUG", []string{"keeps the election closed"}},
		{Event{Kind: EventWaiting, Entry: vacant, Err: waits}, "DEBUG", []string{"nobody leads"}},
		{Event{Kind: EventWaiting, Entry: absent, Err: waits}, "DEBUG", []string{"was deleted"}},
		{Event{Kind: EventWaiting, Entry: entry.RaceEntry{}, Err: ErrBadEntry}, "DEBUG", []string{"blocked"}},
		{Event{Kind: EventWaiting, Entry: other, Err: &HeldError{Current: other, RetryAfter: never}}, "DEBUG", []string{"waiting"}},
		{Event{Kind: EventRequest, Op: OpRenew, Outcome: OutcomeStored, Latency: 10234567 * time.Nanosecond}, "DEBUG",
			[]string{`"election: renewal stored" event=request candidate=me op=renew outcome=stored latency=10.23ms`}},
		{Event{Kind: EventRequest, Op: OpRead, Outcome: OutcomeRead}, "DEBUG", []string{"read answered"}},
		{Event{Kind: EventRequest, Op: OpRead, Outcome: OutcomeBadEntry}, "DEBUG", []string{"not an entry"}},
		{Event{Kind: EventRequest, Op: OpRead, Outcome: OutcomeUnknown, Err: errors.New("503")}, "WARN", []string{`"election: read without an answer"`, "op=read outcome=unknown", "503"}},
		{Event{Kind: EventRequest, Op: OpResign, Outcome: OutcomeUnknown}, "WARN", []string{"resignation without an answer: it may or may not be stored"}},
		{Event{Kind: EventRequest, Op: OpRead, Outcome: OutcomeBroken, Err: ErrBroken}, "ERROR", []string{"refuses the read", "outcome=broken", "do="}},
		{Event{Kind: EventRequest, Op: OpAcquire, Outcome: OutcomeLost, Err: ErrLostRace}, "DEBUG", []string{"attempt to win lost", "op=acquire outcome=lost"}},
		{Event{Kind: EventMissed, Missed: 9}, "WARN", []string{"event=missed", "events_missed=9", "do="}},
		{Event{Kind: EventVanished, Missed: 9}, "WARN", []string{"events_missed=9"}},
		{Event{Kind: 99, Op: 99, Outcome: 99}, "INFO", []string{"EventKind(99)"}},
	} {
		var out strings.Builder
		tc.e.LeaderID = "me"
		logEvent(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), tc.e)
		line := out.String()
		if strings.Count(line, "\n") != 1 || !strings.Contains(line, "level="+tc.level+" ") || !strings.Contains(line, "event="+tc.e.Kind.String()+" candidate=me") {
			t.Errorf("%v: %q, want one line at %s", tc.e.Kind, line, tc.level)
		}
		if strings.Contains(line, `leader=""`) || strings.Contains(line, "=2562047h") {
			t.Errorf("%v: %q says what nobody can use", tc.e.Kind, line)
		}
		for _, want := range tc.says {
			if !strings.Contains(line, want) {
				t.Errorf("%v: %q has no %q", tc.e.Kind, line, want)
			}
		}
	}
}

// What nobody reads costs nothing: a leader renews for months.
func TestLogLinesThatAreOffCostNothing(t *testing.T) {
	l := slog.New(slog.NewTextHandler(new(strings.Builder), nil))
	e := Event{Kind: EventRequest, Op: OpRenew, Outcome: OutcomeStored, LeaderID: "me"}
	if n := testing.AllocsPerRun(100, func() { logEvent(l, e) }); n > 0 {
		t.Errorf("%v allocations for a line that is switched off", n)
	}
}
