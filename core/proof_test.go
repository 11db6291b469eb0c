package core

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// noon is where the clocks of the tests of pure functions start.
var noon = time.Date(2025, time.March, 1, 12, 0, 0, 0, time.UTC)

// at is the instant when both clocks have moved by d since noon.
func at(d time.Duration) instant { return instant{elapsed: d, sure: d, mono: d, wall: noon.Add(d)} }

// datedTok is the token of an answer that told the store's time.
type datedTok struct{ date time.Time }

func (datedTok) CommitTS() time.Time    { return time.Time{} }
func (t datedTok) StoreDate() time.Time { return t.date }

// undatedTok is the token of an answer that did not.
type undatedTok struct{}

func (undatedTok) CommitTS() time.Time { return time.Time{} }

// otherLeads is a version that somebody else wrote at noon, for ten seconds.
// Our own term is longer, so that mixing the two up shows.
func otherLeads() entry.RaceEntry {
	return entry.RaceEntry{LeaderID: "other", TermExpiry: noon.Add(10 * time.Second), TermLength: 10 * time.Second,
		ElectionNumber: 7, FencingToken: 3, Nonce: "n7", Token: undatedTok{}}
}

func nothing(tok entry.LeaderToken) entry.RaceEntry {
	return entry.RaceEntry{ElectionNumber: entry.NoElections, Token: tok}
}

// we are the candidate who judges.
func we(change ...func(*rules)) rules {
	r := rules{self: "me", term: 15 * time.Second, skew: time.Second}
	for _, f := range change {
		f(&r)
	}
	return r
}

func believeNoClock(r *rules) { r.noClock = true }

// seenAt is a record to which one answer showed e, at one instant.
func seenAt(d time.Duration, e entry.RaceEntry) *record {
	r := newRecord()
	show(&r, e, at(d), at(d))
	return &r
}

// show gives a record an entry of its own to see.
func show(r *record, e entry.RaceEntry, sent, got instant) { r.saw(&e, sent, got) }

func with(e entry.RaceEntry, change func(*entry.RaceEntry)) entry.RaceEntry {
	change(&e)
	return e
}

// TestJudgeAtItsInstant looks at every proof that time can bring, one
// nanosecond before its instant, at it, and one after.
func TestJudgeAtItsInstant(t *testing.T) {
	sentBy := func(d time.Duration) func(e *entry.RaceEntry) {
		return func(e *entry.RaceEntry) { e.SentBy = noon.Add(d) }
	}
	for _, tc := range []struct {
		name  string
		proof Proof
		holds time.Duration // after noon
		// judged is the judgement when the proof's own clock shows d after noon.
		judged func(d time.Duration) verdict
	}{
		{"observed: the term and a twentieth, from the answer that showed it", ProofObserved, 10*time.Second + 500*time.Millisecond,
			func(d time.Duration) verdict {
				return judge(seenAt(0, otherLeads()), at(d), we(believeNoClock))
			}},
		{"observed: from the first answer, not the latest", ProofObserved, 10*time.Second + 500*time.Millisecond,
			func(d time.Duration) verdict {
				r := seenAt(0, otherLeads())
				show(r, otherLeads(), at(9*time.Second), at(9*time.Second))
				return judge(r, at(d), we(believeNoClock))
			}},
		{"observed: from when the answer had arrived", ProofObserved, 12*time.Second + 500*time.Millisecond,
			func(d time.Duration) verdict {
				r := newRecord()
				show(&r, otherLeads(), at(0), at(2*time.Second))
				return judge(&r, at(d), we(believeNoClock))
			}},
		{"observed: by both clocks: a wall clock that jumps does not hasten it", ProofObserved, 10*time.Second + 500*time.Millisecond,
			func(d time.Duration) verdict {
				now := instant{mono: d, sure: d, elapsed: d + time.Hour, wall: noon.Add(time.Hour)}
				return judge(seenAt(0, otherLeads()), now, we(believeNoClock))
			}},
		{"observed: the entry's term, where ours is shorter", ProofObserved, 63 * time.Second,
			func(d time.Duration) verdict {
				long := with(otherLeads(), func(e *entry.RaceEntry) { e.TermLength = time.Minute })
				return judge(seenAt(0, long), at(d), we(believeNoClock))
			}},
		{"observed: a held entry too", ProofObserved, 10*time.Second + 500*time.Millisecond,
			func(d time.Duration) verdict {
				held := with(otherLeads(), func(e *entry.RaceEntry) { e.Held = true })
				return judge(seenAt(0, held), at(d), we(believeNoClock))
			}},
		{"clock: past the expiry and MaxClockSkew", ProofClock, 11*time.Second + 1,
			func(d time.Duration) verdict {
				r := seenAt(10*time.Second, otherLeads())
				return judge(r, at(d), we())
			}},
		{"clock: on the wall clock alone", ProofClock, 11*time.Second + 1,
			func(d time.Duration) verdict {
				now := instant{mono: 1, elapsed: time.Hour, wall: noon.Add(d)}
				return judge(seenAt(0, otherLeads()), now, we())
			}},
		{"clock: with the expiry, whatever the term's length", ProofClock, 6 * time.Hour,
			func(d time.Duration) verdict {
				late := with(otherLeads(), func(e *entry.RaceEntry) { e.TermExpiry = noon.Add(6*time.Hour - time.Second - 1) })
				return judge(seenAt(6*time.Hour-2, late), at(d), we())
			}},
		{"clock: a Date seen before has to be past as well", ProofClock, 11*time.Second + 1,
			func(d time.Duration) verdict {
				r := newRecord()
				r.told(noon.Add(d), at(0))
				show(&r, otherLeads(), at(0), at(0))
				return judge(&r, instant{mono: 1, wall: noon.Add(time.Hour)}, we())
			}},
		{"store-time: MaxClockSkew and a fortieth of the term, where that is the larger margin", ProofStoreTime, 11*time.Second + 250*time.Millisecond,
			func(d time.Duration) verdict {
				e := with(otherLeads(), sentBy(0))
				e.Token = datedTok{noon.Add(d)}
				return judge(seenAt(0, e), at(0), we())
			}},
		{"store-time: a twentieth of the term, where that is the larger margin", ProofStoreTime, 10*time.Second + 500*time.Millisecond,
			func(d time.Duration) verdict {
				e := with(otherLeads(), sentBy(0))
				e.Token = datedTok{noon.Add(d)}
				return judge(seenAt(0, e), at(0), we(func(r *rules) { r.skew = 249 * time.Millisecond }))
			}},
		{"store-time: whatever the wall clock says", ProofStoreTime, 11*time.Second + 250*time.Millisecond,
			func(d time.Duration) verdict {
				e := with(otherLeads(), sentBy(0))
				e.Token = datedTok{noon.Add(d)}
				r := newRecord()
				show(&r, e, at(0), at(0))
				return judge(&r, instant{wall: noon.Add(-24 * time.Hour)}, we())
			}},
		{"store-time: the entry's term, where ours is shorter", ProofStoreTime, 63 * time.Second,
			func(d time.Duration) verdict {
				e := with(otherLeads(), sentBy(0))
				e.TermLength, e.Token = time.Minute, datedTok{noon.Add(d)}
				return judge(seenAt(0, e), at(0), we())
			}},
		{"store-time: never on a Date of an older answer", ProofNone, 11 * time.Second,
			func(d time.Duration) verdict {
				e := with(otherLeads(), sentBy(0))
				e.Token = datedTok{noon.Add(d)}
				r := seenAt(0, e)
				e.Token = undatedTok{} // the answer that brought it now does not tell the time
				show(r, e, at(0), at(0))
				return judge(r, at(0), we())
			}},
		{"vanished: our own term, where it is the longer one", ProofObserved, 15*time.Second + 750*time.Millisecond,
			func(d time.Duration) verdict {
				r := seenAt(-time.Hour, otherLeads())
				show(r, nothing(datedTok{noon.Add(time.Hour)}), at(0), at(0))
				return judge(r, at(d), we())
			}},
		{"vanished: the longest term ever seen", ProofObserved, 21 * time.Minute,
			func(d time.Duration) verdict {
				r := seenAt(-2*time.Hour, with(otherLeads(), func(e *entry.RaceEntry) { e.TermLength = 20 * time.Minute }))
				show(r, with(otherLeads(), func(e *entry.RaceEntry) { e.Nonce = "n8" }), at(-time.Hour), at(-time.Hour))
				show(r, nothing(undatedTok{}), at(0), at(0))
				return judge(r, at(d), we())
			}},
		{"vanished: from the first answer that showed nothing", ProofObserved, 15*time.Second + 750*time.Millisecond,
			func(d time.Duration) verdict {
				r := seenAt(-time.Hour, otherLeads())
				show(r, nothing(undatedTok{}), at(-1), at(0))
				show(r, nothing(undatedTok{}), at(14*time.Second), at(14*time.Second))
				return judge(r, at(d), we())
			}},
		{"vanished: anew when something was there in between", ProofObserved, 29*time.Second + 750*time.Millisecond,
			func(d time.Duration) verdict {
				r := seenAt(-time.Hour, otherLeads())
				show(r, nothing(undatedTok{}), at(0), at(0))
				show(r, otherLeads(), at(13*time.Second), at(13*time.Second))
				show(r, nothing(undatedTok{}), at(14*time.Second), at(14*time.Second))
				return judge(r, at(d), we())
			}},
		{"vanished: a resigned entry too", ProofObserved, 15*time.Second + 750*time.Millisecond,
			func(d time.Duration) verdict {
				r := seenAt(-time.Hour, with(otherLeads(), func(e *entry.RaceEntry) { e.LeaderID = "" }))
				show(r, nothing(undatedTok{}), at(0), at(0))
				return judge(r, at(d), we())
			}},
		{"vanished: what could not be read too", ProofObserved, 15*time.Second + 750*time.Millisecond,
			func(d time.Duration) verdict {
				r := newRecord()
				r.sawBad(&entry.RaceEntry{Token: undatedTok{}}, at(-time.Hour), at(-time.Hour))
				show(&r, nothing(undatedTok{}), at(0), at(0))
				return judge(&r, at(d), we())
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, off := range []time.Duration{-time.Second, -1, 0, 1, time.Second} {
				want := tc.proof
				if off < 0 {
					want = ProofNone
				}
				v := tc.judged(tc.holds + off)
				if v.proof != want {
					t.Errorf("%v from its instant: %v, want %v", off, v.proof, want)
				}
				if (v.proof != ProofNone) != (v.wait == 0) {
					t.Errorf("%v from its instant: proof %v with a wait of %v", off, v.proof, v.wait)
				}
			}
		})
	}
}

// TestJudgeNeedsNoTime are the proofs that hold at once, or never.
func TestJudgeNeedsNoTime(t *testing.T) {
	ours := func(e *entry.RaceEntry) { e.LeaderID = "me" }
	reclaim := func(r *rules) { r.reclaim = true }
	ended := func(e entry.RaceEntry) *record {
		r := seenAt(0, e)
		r.end("n1", "n7")
		return r
	}
	bad := newRecord()
	bad.sawBad(&entry.RaceEntry{Token: datedTok{noon}}, at(0), at(0))
	badLater := *seenAt(0, otherLeads())
	badLater.sawBad(&entry.RaceEntry{}, at(1), at(1))
	fresh := newRecord()
	for _, tc := range []struct {
		name string
		r    *record
		rule rules
		want Proof
		wait time.Duration // -1: whatever
	}{
		{"no answer yet", &fresh, we(reclaim), ProofNone, never},
		{"nothing stored, nothing ever seen", seenAt(0, nothing(undatedTok{})), we(), ProofVacant, 0},
		{"nothing stored, and a Date", seenAt(0, nothing(datedTok{noon})), we(believeNoClock), ProofVacant, 0},
		{"resigned", seenAt(0, with(otherLeads(), func(e *entry.RaceEntry) { e.LeaderID = "" })), we(believeNoClock), ProofVacant, 0},
		{"somebody leads", seenAt(0, otherLeads()), we(), ProofNone, -1},
		{"our name, no promise", seenAt(0, with(otherLeads(), ours)), we(), ProofNone, -1},
		{"our name, Reclaim", seenAt(0, with(otherLeads(), ours)), we(reclaim), ProofReclaimed, 0},
		{"our name, Reclaim, held", seenAt(0, with(otherLeads(), func(e *entry.RaceEntry) { ours(e); e.Held = true })), we(reclaim), ProofNone, -1},
		{"another's name, Reclaim", seenAt(0, otherLeads()), we(reclaim), ProofNone, -1},
		{"a name that ours begins with, Reclaim", seenAt(0, with(otherLeads(), func(e *entry.RaceEntry) { e.LeaderID = "m" })), we(reclaim), ProofNone, -1},
		{"a name that begins with ours, Reclaim", seenAt(0, with(otherLeads(), func(e *entry.RaceEntry) { e.LeaderID = "me2" })), we(reclaim), ProofNone, -1},
		{"an ended reign of ours", ended(otherLeads()), we(), ProofReclaimed, 0},
		{"an ended reign of ours, held", ended(with(otherLeads(), func(e *entry.RaceEntry) { e.Held = true })), we(reclaim), ProofNone, -1},
		{"another reign ended", ended(with(otherLeads(), func(e *entry.RaceEntry) { e.Nonce = "n70" })), we(), ProofNone, -1},
		{"not an entry", &bad, we(reclaim), ProofNone, never},
		{"not an entry any more", &badLater, we(reclaim), ProofNone, never},
		{"clock proof only, and it is off, but time helps", seenAt(0, otherLeads()), we(believeNoClock), ProofNone, 10500 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := judge(tc.r, at(2), tc.rule)
			if tc.wait == 10500*time.Millisecond {
				tc.wait -= 2
			}
			if v.proof != tc.want || tc.wait >= 0 && v.wait != tc.wait {
				t.Errorf("%v after %v, want %v after %v", v.proof, v.wait, tc.want, tc.wait)
			}
		})
	}
	t.Run("what is no entry is never free", func(t *testing.T) {
		for _, d := range []time.Duration{0, time.Hour, 1000 * time.Hour} {
			if v := judge(&badLater, at(d), we(reclaim)); v.proof != ProofNone || v.wait != never {
				t.Errorf("after %v: %+v", d, v)
			}
		}
	})
}

// TestClockProofNeverOverrulesTheStore: where the store's time can be judged
// the wall clock has nothing to say, however late it shows.
func TestClockProofNeverOverrulesTheStore(t *testing.T) {
	tomorrow := instant{mono: 1, elapsed: 1, wall: noon.Add(24 * time.Hour)}
	for _, tc := range []struct {
		name         string
		sentBy, date bool
		want         Proof
	}{
		{"neither known", false, false, ProofClock},
		{"only SentBy", true, false, ProofClock},
		{"only a Date, and it is not past", false, true, ProofNone},
		{"both", true, true, ProofNone},
	} {
		e := otherLeads()
		if tc.sentBy {
			e.SentBy = noon
		}
		if tc.date {
			e.Token = datedTok{noon.Add(5 * time.Second)}
		}
		if v := judge(seenAt(0, e), tomorrow, we()); v.proof != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, v.proof, tc.want)
		}
		if v := judge(seenAt(0, e), tomorrow, we(believeNoClock)); v.proof != ProofNone {
			t.Errorf("%s, NoClockProof: %v", tc.name, v.proof)
		}
	}
}

// TestHoldKeepsUsOut: within MinHold of a win no proof helps this process, but
// a reign that came after that win is judged as always.
func TestHoldKeepsUsOut(t *testing.T) {
	const until = 30 * time.Second
	resigned := with(otherLeads(), func(e *entry.RaceEntry) { e.LeaderID = "" })
	absent := seenAt(0, nothing(undatedTok{}))
	absentLater := seenAt(0, resigned)
	show(absentLater, nothing(undatedTok{}), at(1), at(1))
	for _, tc := range []struct {
		name  string
		r     *record
		token int64
		held  bool
		then  Proof
	}{
		{"the reign that was won", seenAt(0, resigned), 3, true, ProofVacant},
		{"an older one", seenAt(0, resigned), 4, true, ProofVacant},
		{"a newer one", seenAt(0, resigned), 2, false, ProofVacant},
		{"no hold", seenAt(0, resigned), 0, false, ProofVacant},
		{"nothing stored", absent, 3, true, ProofVacant},
		{"vanished", absentLater, 3, true, ProofObserved},
	} {
		tc.r.hold = hold{token: tc.token, until: until}
		for _, d := range []time.Duration{2, until - 1} {
			v := judge(tc.r, at(d), we())
			if tc.held && (v.proof != ProofNone || v.wait != until-d) {
				t.Errorf("%s, at %v: %v, wait %v; want to wait %v", tc.name, d, v.proof, v.wait, until-d)
			}
			if !tc.held && v.proof != tc.then {
				t.Errorf("%s, at %v: %v, want %v", tc.name, d, v.proof, tc.then)
			}
		}
		if v := judge(tc.r, at(until), we()); v.proof != tc.then {
			t.Errorf("%s, at the end: %v, want %v", tc.name, v.proof, tc.then)
		}
	}
}

// TestOrderOfProofs: the proof that is told is the one that assumes least of
// the clocks.
func TestOrderOfProofs(t *testing.T) {
	all := with(otherLeads(), func(e *entry.RaceEntry) { e.LeaderID, e.SentBy, e.Token = "", noon, datedTok{noon.Add(time.Hour)} })
	r := seenAt(0, all)
	r.end("n7")
	for _, want := range []Proof{ProofVacant, ProofReclaimed, ProofStoreTime, ProofObserved, ProofClock} {
		if v := judge(r, at(2*time.Hour), we()); v.proof != want {
			t.Errorf("%v, want %v", v.proof, want)
		}
		switch want {
		case ProofVacant:
			r.current.LeaderID = "other"
		case ProofReclaimed:
			r.ended = nil
		case ProofStoreTime:
			r.current.SentBy = time.Time{}
		case ProofObserved:
			r.seen = 2 * time.Hour
		}
	}
}

func TestHeldSaysWhy(t *testing.T) {
	e := otherLeads()
	e.HostPort = []string{"a:1"}
	v := judge(seenAt(0, e), at(time.Second), we())
	held := v.held(&e)
	if held.RetryAfter != 9500*time.Millisecond {
		t.Errorf("RetryAfter %v, want the observed proof's 9.5 s", held.RetryAfter)
	}
	for _, p := range []Proof{ProofVacant, ProofReclaimed, ProofStoreTime, ProofObserved, ProofClock} {
		if !strings.Contains(held.Reason, p.String()+": ") {
			t.Errorf("Reason %q has nothing on %v", held.Reason, p)
		}
	}
	if !errors.Is(held, ErrHeld) || errors.Is(held, ErrLostRace) || !strings.Contains(held.Error(), `"other"`) {
		t.Errorf("%v", held)
	}
	held.Current.HostPort[0] = "changed"
	if e.HostPort[0] != "a:1" {
		t.Error("Current shares a slice with what the election uses")
	}
	if got := judge(seenAt(0, nothing(nil)), at(0), we()); len(got.findings) != 0 || got.wait != 0 {
		t.Errorf("a proof that holds has nothing to explain: %+v", got)
	}
}

func TestProofNames(t *testing.T) {
	names := []string{"none", "vacant", "reclaimed", "store-time", "observed", "clock", "Proof(6)"}
	for i, want := range names {
		p := Proof(i)
		if p.String() != want {
			t.Errorf("Proof(%d) is %q, want %q", i, p, want)
		}
		if b, err := json.Marshal(p); err != nil || string(b) != `"`+want+`"` {
			t.Errorf("Proof(%d) in JSON is %s, %v", i, b, err)
		}
	}
	if got := Proof(-1).String(); got != "Proof(-1)" {
		t.Errorf("%q", got)
	}
}

// TestStoreMarginCoversBothLimitsAtOnce: the leader's clock is slow by 1/41, so
// it holds on for 41/40 of its term, and the server whose Date a candidate
// judges by is ahead, by all of MaxClockSkew, of the one that told the leader
// the time. The larger of the two margins alone lets both lead for a while.
func TestStoreMarginCoversBothLimitsAtOnce(t *testing.T) {
	for _, term := range []time.Duration{time.Second, 15 * time.Second, time.Hour} {
		for _, skew := range []time.Duration{0, time.Millisecond, term / 40, term / 20, term / 10, term / 2} {
			leads := term + term/40 // in true time, from SentBy on
			taken := term + storeMargin(term, skew) - skew
			if taken < leads {
				t.Errorf("term %v, skew %v: taken %v before the leader stops", term, skew, leads-taken)
			}
			if storeMargin(term, skew) < rateMargin(term) {
				t.Errorf("term %v, skew %v: less than the rate margin", term, skew)
			}
		}
	}
}
