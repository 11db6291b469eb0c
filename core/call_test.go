package core

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core/entry"
)

// call bounds f on the system's clock.
func call(ctx, until context.Context, limit time.Duration, f func(context.Context) (string, error)) (string, error) {
	return bounded(ctx, until, clocks.DefaultClock(), limit, f,
		func(ctx context.Context, f func(context.Context) (string, error)) (string, error) { return f(ctx) })
}

func TestBoundedReturnsTheAnswer(t *testing.T) {
	defer goleak.VerifyNone(t)
	failed := errors.New("503")
	for _, want := range []answer[string]{{"token", nil}, {"", failed}, {"both", failed}} {
		got, err := call(t.Context(), nil, time.Hour, func(context.Context) (string, error) { return want.value, want.err })
		if got != want.value || err != want.err {
			t.Errorf("%q, %v; want %q, %v", got, err, want.value, want.err)
		}
	}
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	if got, err := call(ctx, t.Context(), time.Hour, func(ctx context.Context) (string, error) { return ctx.Value(key{}).(string), nil }); got != "value" || err != nil {
		t.Errorf("the caller's values: %q, %v", got, err)
	}
}

// TestBoundedSendsNothing when the answer could not be waited for.
func TestBoundedSendsNothing(t *testing.T) {
	why := fmt.Errorf("of another election: %w", ErrBroken)
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, tc := range []struct {
		name       string
		ctx, until context.Context
		limit      time.Duration
		want       error
	}{
		{"an ended context", ended, nil, time.Hour, context.Canceled},
		{"an ended reign", t.Context(), ended, time.Hour, context.Canceled},
		{"no time", t.Context(), nil, 0, context.DeadlineExceeded},
		{"less than none", t.Context(), t.Context(), -time.Hour, context.DeadlineExceeded},
		{"an ended context and no time", ended, nil, -1, context.Canceled},
	} {
		got, err := call(tc.ctx, tc.until, tc.limit, func(context.Context) (string, error) {
			t.Errorf("%s: sent", tc.name)
			return "", nil
		})
		if got != "" || !errors.Is(err, tc.want) {
			t.Errorf("%s: %q, %v; want %v", tc.name, got, err, tc.want)
		}
		// The cause is somebody else's error: told, but not to be mistaken for an answer.
		if tc.want == context.Canceled && (errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), why.Error())) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestBoundedGivesUp on a call that ignores its context: at the limit, or when
// either context ends, with the reason. The call's goroutine ends with the call.
func TestBoundedGivesUp(t *testing.T) {
	why := errors.New("why")
	for _, tc := range []struct {
		name             string
		ctxEnds, ends    time.Duration // 0: never
		limit, wantAfter time.Duration
		want             error
	}{
		{"the limit", 0, 0, time.Second, time.Second, context.DeadlineExceeded},
		{"the context", time.Second, 0, time.Hour, time.Second, context.Canceled},
		{"the reign", 0, time.Second, time.Hour, time.Second, context.Canceled},
		{"the limit, before the others", 3 * time.Second, 2 * time.Second, time.Second, time.Second, context.DeadlineExceeded},
		{"the reign, before the others", 2 * time.Second, time.Second, 3 * time.Second, time.Second, context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				until, end := context.WithCancelCause(t.Context())
				defer end(nil)
				if tc.ctxEnds > 0 {
					time.AfterFunc(tc.ctxEnds, func() { cancel(why) })
				}
				if tc.ends > 0 {
					time.AfterFunc(tc.ends, func() { end(why) })
				}
				start, ended := time.Now(), false
				var told error
				got, err := call(ctx, until, tc.limit, func(ctx context.Context) (string, error) {
					time.Sleep(time.Minute)
					told, ended = context.Cause(ctx), true
					return "too late", nil
				})
				if d := time.Since(start); d != tc.wantAfter || got != "" || !errors.Is(err, tc.want) {
					t.Errorf("%q, %v after %v; want %v after %v", got, err, d, tc.want, tc.wantAfter)
				}
				time.Sleep(time.Hour)
				synctest.Wait() // the bubble would not end with a goroutine left
				want := tc.want // the call hears the cause itself
				if want == context.Canceled {
					want = why
				}
				if !ended || !errors.Is(told, want) {
					t.Errorf("the call ended: %v, and was told to with %v", ended, told)
				}
			})
		})
	}
}

// TestBoundedTellsACallThatListens: it ends at once, and what it says is an
// error either way.
func TestBoundedTellsACallThatListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := call(t.Context(), nil, time.Second, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// TestBoundedAtTheSameInstant: an answer that comes just when time is up is
// taken whole or not at all.
func TestBoundedAtTheSameInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 500 {
			got, err := call(t.Context(), nil, time.Second, func(context.Context) (string, error) {
				time.Sleep(time.Second)
				return "token", nil
			})
			if stored := got == "token" && err == nil; !stored && (got != "" || !errors.Is(err, context.DeadlineExceeded)) {
				t.Fatalf("%q, %v", got, err)
			}
		}
		got, err := call(t.Context(), nil, time.Second, func(context.Context) (string, error) {
			time.Sleep(time.Second - 1)
			return "token", nil
		})
		if got != "token" || err != nil {
			t.Errorf("a nanosecond before: %q, %v", got, err)
		}
	})
}

func TestNoAnswerLooksLikeATimeout(t *testing.T) {
	var err error = &noAnswerError{limit: 5 * time.Second}
	var timeout interface{ Timeout() bool }
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("%v", err)
	}
	if writeOutcome(nil, err) != OutcomeUnknown || writeOutcome(nil, &net.OpError{Op: "dial", Err: err}) != OutcomeUnknown {
		t.Error("it may have been stored")
	}
}

// oneAnswer is a decider that always answers the same.
type oneAnswer struct {
	e   *entry.RaceEntry
	tok entry.LeaderToken
	err error
}

func (d oneAnswer) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return d.tok, d.err
}
func (d oneAnswer) ReadCurrent(context.Context) (*entry.RaceEntry, error) { return d.e, d.err }

// clientOf is a client of d, with what it is told of.
func clientOf(t *testing.T, d RaceDecider) (*client, *[]Event) {
	t.Helper()
	var events []Event
	s, err := Config{LeaderID: "me", Decider: d, OnEvent: func(e Event) { events = append(events, e) }}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	return &client{s, newHooks(t.Context(), s)}, &events
}

// TestReadTeachesTheRecord every kind of answer.
func TestReadTeachesTheRecord(t *testing.T) {
	e := otherLeads()
	e.Token = datedTok{noon}
	badTok := &entry.RaceEntry{Token: datedTok{noon}}
	for _, tc := range []struct {
		name    string
		answer  oneAnswer
		outcome Outcome
		sight   sight
		dated   bool
		kinds   []EventKind
	}{
		{"an entry", oneAnswer{e: &e}, OutcomeRead, sightEntry, true, []EventKind{EventLeaderChanged, EventRequest, EventClockOffset}},
		{"nothing", oneAnswer{e: noEntry()}, OutcomeRead, sightAbsent, false, []EventKind{EventRequest}},
		{"not an entry", oneAnswer{e: badTok, err: ErrBadEntry}, OutcomeBadEntry, sightBad, true, []EventKind{EventBadEntry, EventRequest, EventClockOffset}},
		{"not an entry, without its token", oneAnswer{err: ErrBadEntry}, OutcomeBadEntry, sightBad, false, []EventKind{EventBadEntry, EventRequest}},
		{"broken", oneAnswer{err: ErrBroken}, OutcomeBroken, sightNone, false, []EventKind{EventRequest}},
		{"an error, and an entry that means nothing", oneAnswer{e: &e, err: errors.New("503")}, OutcomeUnknown, sightNone, false, []EventKind{EventRequest}},
		{"neither", oneAnswer{}, OutcomeUnknown, sightNone, false, []EventKind{EventRequest}},
	} {
		c, events := clientOf(t, tc.answer)
		got, outcome, err := c.read(t.Context(), nil, time.Hour)
		c.hooks.drain(nil)
		r := c.Memory.known()
		if outcome != tc.outcome || (err == nil) != (outcome == OutcomeRead) || got == nil {
			t.Errorf("%s: %v, %v, %v", tc.name, got, outcome, err)
		}
		if r.sight != tc.sight || r.storeTime.IsZero() == tc.dated {
			t.Errorf("%s: the record shows %v, and the store's time %v", tc.name, r.sight, r.storeTime)
		}
		checkKinds(t, tc.name, *events, tc.kinds)
	}
}

// TestWriteTeachesTheRecord what the answer said, and no more.
func TestWriteTeachesTheRecord(t *testing.T) {
	winner := otherLeads()
	winner.Token = datedTok{noon}
	for _, tc := range []struct {
		name    string
		answer  oneAnswer
		outcome Outcome
		leader  string // of the record afterwards
		token   bool
	}{
		{"stored", oneAnswer{tok: datedTok{noon}}, OutcomeStored, "me", true},
		{"lost, with the winner", oneAnswer{err: &LostRaceError{Current: &winner}}, OutcomeLost, "other", false},
		{"lost, without it", oneAnswer{err: &LostRaceError{}}, OutcomeLost, "", false},
		{"broken", oneAnswer{err: ErrBroken}, OutcomeBroken, "", false},
		{"unknown", oneAnswer{err: errors.New("503")}, OutcomeUnknown, "", false},
		{"unknown, with a token", oneAnswer{tok: undatedTok{}, err: errors.New("503")}, OutcomeUnknown, "", false},
		{"neither", oneAnswer{}, OutcomeUnknown, "", false},
	} {
		c, events := clientOf(t, tc.answer)
		e := &entry.RaceEntry{LeaderID: "me", TermLength: time.Second, Nonce: "mine"}
		outcome, err := c.write(t.Context(), nil, time.Hour, OpAcquire, e, c.sample())
		c.hooks.drain(nil)
		r := c.Memory.known()
		if outcome != tc.outcome || (err == nil) != (outcome == OutcomeStored) {
			t.Errorf("%s: %v, %v", tc.name, outcome, err)
		}
		if r.current.LeaderID != tc.leader || (r.sight == sightEntry) != (tc.leader != "") || (e.Token != nil) != tc.token {
			t.Errorf("%s: the record shows %+v, and the entry's token is %v", tc.name, r.current, e.Token)
		}
		var request *Event
		for i, ev := range *events {
			if ev.Kind == EventRequest {
				request = &(*events)[i]
			}
		}
		if request == nil || request.Op != OpAcquire || request.Outcome != tc.outcome || request.Err != err || request.Latency < 0 {
			t.Errorf("%s: told %+v", tc.name, request)
		}
	}
}

func checkKinds(t *testing.T, name string, events []Event, want []EventKind) {
	t.Helper()
	var got []EventKind
	for _, e := range events {
		got = append(got, e.Kind)
	}
	if len(got) != len(want) {
		t.Errorf("%s: told %v, want %v", name, got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: told %v, want %v", name, got, want)
			return
		}
	}
}
