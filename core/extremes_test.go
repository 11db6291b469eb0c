package core

import (
	"math"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// A Duration can say 292 years, and an entry may expire in the year 9999.
func TestClockProofOfAFarExpiry(t *testing.T) {
	far := with(otherLeads(), func(e *entry.RaceEntry) { e.TermExpiry = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) })
	if v := judge(seenAt(0, far), at(0), we()); v.proof != ProofNone {
		t.Errorf("%v, although the term ends in the year 9999", v.proof)
	}
	// The same by way of the Date: the wall clock is past, the store's is far from it.
	r := seenAt(0, far)
	r.told(noon, at(0))
	if v := judge(r, instant{wall: time.Date(9999, 2, 1, 0, 0, 0, 0, time.UTC)}, we()); v.proof != ProofNone {
		t.Errorf("%v, although the store's Date is in 2025", v.proof)
	}
}

// The clock proof needs a Date past the expiry, and Dates are whole seconds: the
// wait is for the first whole second after it.
func TestClockWaitWithADate(t *testing.T) {
	e := with(otherLeads(), func(e *entry.RaceEntry) { e.TermExpiry, e.TermLength = noon.Add(9500*time.Millisecond), time.Hour })
	answer := func(d time.Duration) entry.RaceEntry {
		e.Token = datedTok{noon.Add(d).Truncate(time.Second)}
		return e
	}
	r := seenAt(0, answer(0))
	v := judge(r, at(0), we())
	show(r, answer(v.wait), at(v.wait), at(v.wait))
	if got := judge(r, at(v.wait), we()); got.proof != ProofClock {
		t.Errorf("wait %v; then %v, wait %v", v.wait, got.proof, got.wait)
	}
}

func TestTimeViewFarAway(t *testing.T) {
	clock := &handClock{wall: noon}
	v := NewTimeView(clock)
	clock.move(time.Second, time.Second)
	v.Set(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	if !v.ValueInFuture() {
		t.Error("the year 9999 is past")
	}
}

// A wall clock that jumps by centuries, more than once, must not make a reign
// that was over begin to last again.
func TestElapsedNeverFalls(t *testing.T) {
	clock := &handClock{wall: noon}
	k := newTimekeeper(clock)
	clock.move(time.Second, time.Second)
	last := k.sample()
	for range 3 {
		clock.move(0, math.MaxInt64/2)
		clock.move(0, 1)
		now := k.sample()
		if now.elapsed < last.elapsed {
			t.Fatalf("elapsed %v after %v", now.elapsed, last.elapsed)
		}
		last = now
	}
}

// ptrToken is a token that can be nil inside its interface.
type ptrToken struct{ date time.Time }

func (t *ptrToken) CommitTS() time.Time  { return t.date }
func (t *ptrToken) StoreDate() time.Time { return t.date }

// Go's classical mistake in a decider, a nil pointer returned as an error or as a
// token, is an unknown answer and no panic.
func TestTypedNils(t *testing.T) {
	for name, d := range map[string]oneAnswer{
		"lost": {err: (*LostRaceError)(nil)}, "token": {tok: (*ptrToken)(nil)}, "both": {tok: undatedTok{}, err: (*LostRaceError)(nil)},
		"token of an entry": {e: &entry.RaceEntry{LeaderID: "a", TermLength: 1, Token: (*ptrToken)(nil)}},
	} {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: panic: %v", name, p)
				}
			}()
			c, _ := clientOf(t, d)
			outcome, err := c.write(t.Context(), nil, time.Hour, OpAcquire, &entry.RaceEntry{}, c.sample())
			if outcome != OutcomeUnknown || err == nil {
				t.Errorf("%s: %v, want unknown", name, outcome)
			}
			_, _, _ = c.read(t.Context(), nil, time.Hour)
			if err != nil {
				_ = err.Error()
			}
		}()
	}
}

// A candidate that means never to poll (it has Wake) must not end up reading
// without a pause, because sums of its intervals overflow.
func TestHugeIntervals(t *testing.T) {
	for _, huge := range []time.Duration{math.MaxInt64, 1 << 62} {
		c := Config{LeaderID: "me", Decider: new(noStore), PollInterval: huge, RenewInterval: huge, ManualRenew: true}
		if err := c.Validate(); err != nil {
			continue // refusing it is fine
		}
		s, err := c.resolve()
		if err != nil {
			t.Fatal(err)
		}
		sched := newSchedule(s, at(time.Second))
		if d := sched.next(at(2*time.Second), never); d <= 0 {
			t.Errorf("%v: next read after %v", huge, d)
		}
		for n := range 10 {
			if a, b := sched.afterFailure(n), s.retryPause(n); a <= 0 || b <= 0 {
				t.Errorf("%v: pauses of %v and %v after %d failures", huge, a, b, n)
			}
		}
	}
}

// One wrong duration hides no other.
func TestValidateHidesNoFault(t *testing.T) {
	for _, c := range []Config{
		{LeaderID: "me", Decider: new(noStore), TermLength: 1, MinHold: entry.MaxTermLength + 1},
		{LeaderID: "me", Decider: new(noStore), PollInterval: -1, MinHold: entry.MaxTermLength + 1},
		{LeaderID: "me", Decider: new(noStore), WaitAtMost: -1, TermLength: time.Second, MaxClockSkew: time.Second},
	} {
		if got := faultsOf(t, c); len(got) != 2 {
			t.Errorf("%q, want two faults", got)
		}
	}
}

// wrapClock is comparable by its type, but == panics when its field holds
// something that is not.
type wrapClock struct{ clocks.Clock }

func TestSameClockOfWhatCannotBeCompared(t *testing.T) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v", p)
		}
	}()
	sameClock(wrapClock{sliceClock{}}, wrapClock{sliceClock{}})
}

// A wait within MinHold is not over with the hold if no proof holds by then.
func TestHoldWaitsForAProofToo(t *testing.T) {
	r := seenAt(0, otherLeads()) // for 10 s, with token 3
	r.hold = hold{token: 3, until: time.Second}
	if v := judge(r, at(0), we(believeNoClock)); v.wait != 10500*time.Millisecond {
		t.Errorf("wait %v, but the first proof can hold in 10.5 s", v.wait)
	}
	bad := newRecord()
	bad.sawBad(&entry.RaceEntry{}, at(0), at(0))
	bad.hold = r.hold
	if v := judge(&bad, at(0), we()); v.wait != never {
		t.Errorf("wait %v for what only an operator can free", v.wait)
	}
}
