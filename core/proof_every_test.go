package core

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// situation is one row of everything that a judgement depends on. Times are
// -1, 0 or 1: a nanosecond before the instant that matters, at it, after it.
// (Dates are whole seconds: one before, at, after.)
type situation struct {
	sight   sight
	ever    bool
	leader  string
	held    bool
	ended   bool
	sentBy  bool
	date    int // 2: the answer had none
	older   int // another answer's Date, against the clock proof's instant; 2: none
	mono    int // against the observed proof's instant
	wall    int // against the clock proof's instant
	hold    int // 0: none, 1: of this reign, 2: of an older one, 3: of this reign and over
	reclaim bool
	noClock bool
}

// expected is the table of docs/SAFETY.md, read row by row.
func (s situation) expected() Proof {
	overwriting := s.sight == sightEntry
	if s.hold == 1 || s.hold == 2 && !overwriting {
		return ProofNone
	}
	switch s.sight {
	case sightNone, sightBad:
		return ProofNone
	case sightAbsent:
		switch {
		case !s.ever:
			return ProofVacant
		case s.mono >= 0:
			return ProofObserved
		}
		return ProofNone
	}
	storeTime := s.sentBy && s.date != 2
	dateFine := s.date == 2 && (s.older == 2 || s.older == 1) || s.date == 1
	switch {
	case s.leader == "":
		return ProofVacant
	case !s.held && (s.ended || s.reclaim && s.leader == "me"):
		return ProofReclaimed
	case storeTime && s.date >= 0:
		return ProofStoreTime
	case s.mono >= 0:
		return ProofObserved
	case !s.noClock && !storeTime && s.wall == 1 && dateFine:
		return ProofClock
	}
	return ProofNone
}

// judged builds the situation with the record's own methods and judges it.
func (s situation) judged() verdict {
	const term = 40 * time.Second // observed after 42 s; clock after 41 s; store-time at 42 s (margins: 2 s, and 1 s + 1 s)
	rule := rules{self: "me", term: term, skew: time.Second, reclaim: s.reclaim, noClock: s.noClock}
	seen := at(0)
	clockAt, storeAt := noon.Add(41*time.Second), noon.Add(42*time.Second)
	e := entry.RaceEntry{LeaderID: s.leader, Held: s.held, TermLength: term, TermExpiry: noon.Add(40 * time.Second),
		ElectionNumber: 4, FencingToken: 9, Nonce: "this", Token: undatedTok{}}
	if s.sentBy {
		e.SentBy = noon
	}
	if s.date != 2 {
		when := storeAt
		if !s.sentBy {
			when = clockAt
		}
		e.Token = datedTok{when.Add(time.Duration(s.date) * time.Second)}
	}
	r := newRecord()
	if s.ever {
		before := e
		before.Nonce, before.ElectionNumber, before.Token = "before", 3, undatedTok{}
		show(&r, before, at(-time.Hour), at(-time.Hour))
	}
	if s.older != 2 {
		r.told(clockAt.Add(time.Duration(s.older)), at(-time.Minute))
	}
	switch s.sight {
	case sightEntry:
		show(&r, e, seen, seen)
	case sightAbsent:
		show(&r, nothing(undatedTok{}), seen, seen)
	case sightBad:
		r.sawBad(&entry.RaceEntry{Token: undatedTok{}}, seen, seen)
	}
	if s.ended {
		r.end("this")
	}
	now := instant{mono: 42*time.Second + time.Duration(s.mono), sure: 42*time.Second + time.Duration(s.mono), wall: clockAt.Add(time.Duration(s.wall))}
	switch s.hold {
	case 1:
		r.hold = hold{token: 9, until: now.mono + 1}
	case 2:
		r.hold = hold{token: 8, until: now.mono + 1}
	case 3:
		r.hold = hold{token: 9, until: now.mono}
	}
	return judge(&r, now, rule)
}

// situations yields every combination that a record can be in.
func situations(yield func(situation) bool) {
	for i := 0; ; i++ {
		rest := i
		pick := func(n int) int { // the digits of i, in bases that differ
			digit := rest % n
			rest /= n
			return digit
		}
		s := situation{
			reclaim: pick(2) == 1, noClock: pick(2) == 1, hold: pick(4),
			mono: pick(3) - 1, wall: pick(3) - 1, older: pick(4) - 1, date: 2 - pick(4),
			ever: pick(2) == 1, ended: pick(2) == 1, held: pick(2) == 1, sentBy: pick(2) == 1,
			leader: []string{"", "other", "me"}[pick(3)], sight: sight(pick(4)),
		}
		switch {
		case rest > 0: // i has one digit more than there are
			return
		case s.sight == sightNone && s.ever:
			continue // what a record cannot be
		case s.sight != sightEntry && (s.leader != "" || s.held || s.sentBy || s.date != 2):
			continue // what only an entry can have
		}
		if !yield(s) {
			return
		}
	}
}

// TestJudgeEverySituation compares judge with the table in every combination.
func TestJudgeEverySituation(t *testing.T) {
	counted := map[Proof]int{}
	for s := range situations {
		v, want := s.judged(), s.expected()
		counted[v.proof]++
		if v.proof != want {
			t.Fatalf("%+v: %v, want %v", s, v.proof, want)
		}
		if (v.proof != ProofNone) != (v.wait == 0) || v.wait < 0 {
			t.Fatalf("%+v: %v with a wait of %v", s, v.proof, v.wait)
		}
	}
	for p := ProofNone; p <= ProofClock; p++ {
		if counted[p] < 10 {
			t.Errorf("%d situations end in %v: this test tests less than it says", counted[p], p)
		}
	}
}

// TestWaitIsExact: a candidate that sleeps for exactly as long as the verdict
// says and then asks again has its proof; one nanosecond earlier it has none.
// The store's clock runs somewhere within the second that its Date names; where
// it is at the second's start, the earlier look proves that no wait is too long.
func TestWaitIsExact(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for n := range 5_000 {
		term := time.Duration(rng.Int64N(int64(time.Minute))) + time.Millisecond
		e := otherLeads()
		e.TermLength = term
		e.TermExpiry = noon.Add(term + time.Duration(rng.Int64N(int64(time.Minute))) - 30*time.Second)
		within := time.Duration(rng.Int64N(int64(time.Second))) // of the store's clock at noon
		if rng.IntN(2) == 0 {
			within = 0
		}
		dated := rng.IntN(2) == 0
		answer := func(now time.Duration) entry.RaceEntry {
			if dated {
				e.Token = datedTok{noon.Add(within + now).Truncate(time.Second)}
			}
			return e
		}
		if dated {
			e.SentBy = noon.Add(-time.Duration(rng.Int64N(int64(term))))
		}
		rule := we(func(r *rules) {
			r.skew = time.Duration(rng.Int64N(int64(term/2 + 1)))
			r.noClock = rng.IntN(2) == 0
		})
		r := seenAt(0, answer(0))
		if rng.IntN(3) == 0 { // asked some time after the answer
			answer = func(time.Duration) entry.RaceEntry { return e }
			dated = false
		}
		asked := time.Duration(rng.Int64N(int64(term)))
		if dated {
			asked = 0
		}
		v := judge(r, at(asked), rule)
		if v.proof != ProofNone || v.wait == never {
			continue
		}
		said := fmt.Sprintf("seed %d, run %d: %+v, %+v, asked at %v: wait %v", seed, n, e, rule, asked, v.wait)
		if !dated && storeTimeJudged(r) {
			continue // the next answer, not the clock, brings this proof
		}
		then := asked + v.wait
		after := *r
		show(&after, answer(then), at(then), at(then))
		if got := judge(&after, at(then), rule); got.proof == ProofNone {
			t.Fatalf("%s; then no proof, wait %v: %+v", said, got.wait, got.findings)
		}
		if within == 0 {
			before := *r
			show(&before, answer(then-1), at(then-1), at(then-1))
			if got := judge(&before, at(then-1), rule); got.proof != ProofNone {
				t.Fatalf("%s; but a nanosecond earlier: %v", said, got.proof)
			}
		}
	}
}

// TestWaitForADateCountsFromItsAnswer: what has passed since the answer that
// brought the Date is not waited for again.
func TestWaitForADateCountsFromItsAnswer(t *testing.T) {
	e := otherLeads()
	e.SentBy, e.Token = noon, datedTok{noon.Add(5 * time.Second)}
	r := seenAt(0, e)
	for asked, want := range map[time.Duration]time.Duration{
		0: 7 * time.Second, 2 * time.Second: 5 * time.Second, 7*time.Second - 2: 2,
		7 * time.Second: 1, 9 * time.Second: 1, // overdue: the next answer brings it, but there is no proof yet
	} {
		if v := judge(r, at(asked), we(believeNoClock)); v.proof != ProofNone || v.wait != want {
			t.Errorf("asked %v after the answer: %v, wait %v; want %v", asked, v.proof, v.wait, want)
		}
	}
	// The instant is in the middle of a second: Dates are whole ones.
	e.SentBy = noon.Add(time.Millisecond)
	if v := judge(seenAt(0, e), at(0), we(believeNoClock)); v.wait != 7*time.Second {
		t.Errorf("wait %v, want until the next whole second in 7 s", v.wait)
	}
}
