package core

import (
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// foreignTok is the token of a version that another library wrote.
type foreignTok struct{ commit, date time.Time }

func (t foreignTok) CommitTS() time.Time  { return t.commit }
func (t foreignTok) StoreDate() time.Time { return t.date }
func (foreignTok) Foreign() string        { return "peer/library" }

// foreignLeads is what another library's leader wrote at noon, with so much left.
func foreignLeads(left time.Duration) entry.RaceEntry {
	return entry.RaceEntry{LeaderID: "old", TermExpiry: noon.Add(left), TermLength: max(left, 0),
		ElectionNumber: 40, Token: foreignTok{commit: noon, date: noon}}
}

// TestForeignEntryIsProvedOver: by the longer of two terms observed, and by the
// clock; each one nanosecond before its instant, and at it.
func TestForeignEntryIsProvedOver(t *testing.T) {
	day := func(d time.Duration) instant { i := at(d); i.wall = noon.Add(-24 * time.Hour); return i } // a wall clock that proves nothing
	for _, tc := range []struct {
		name  string
		left  time.Duration
		holds time.Duration
		proof Proof
		now   func(time.Duration) instant
		rules rules
	}{
		{"observed: our own term is the longer", 10 * time.Second, 15*time.Second + 750*time.Millisecond + time.Second, ProofObserved, day, we()},
		{"observed: what was left is the longer", 20 * time.Second, 20*time.Second + time.Second + time.Second, ProofObserved, day, we()},
		{"observed: nothing was left", 0, 15*time.Second + 750*time.Millisecond + time.Second, ProofObserved, at, we(believeNoClock)},
		{"clock", 10 * time.Second, 11*time.Second + 1, ProofClock, at, we()},
		{"clock: over long ago", -time.Hour, 1, ProofClock, at, we()},
	} {
		judged := func(d time.Duration) verdict {
			r := seenAt(0, foreignLeads(tc.left))
			r.storeTime = noon.Add(24 * time.Hour) // it has no say but for the clock proof's last Date
			now := tc.now(d)
			return judge(r, now, tc.rules)
		}
		if v := judged(tc.holds); v.proof != tc.proof {
			t.Errorf("%s: %v after %v, want %v", tc.name, v.proof, tc.holds, tc.proof)
		}
		if v := judged(tc.holds - 1); tc.left >= 0 && v.proof != ProofNone {
			t.Errorf("%s: %v too early", tc.name, v.proof)
		}
	}
}

// TestForeignEntryProvesNothingElse: no Date, no name and no nonce ends a reign
// whose rules are another library's.
func TestForeignEntryProvesNothingElse(t *testing.T) {
	e := foreignLeads(10 * time.Second)
	e.LeaderID = "me"
	r := seenAt(0, e)
	r.end("", "n1") // an empty nonce is nobody's
	far := e
	far.Token = foreignTok{commit: noon, date: noon.Add(24 * time.Hour)}
	show(r, far, at(1), at(1))
	v := judge(r, at(9*time.Second), we(func(r *rules) { r.reclaim = true }))
	if v.proof != ProofNone {
		t.Errorf("proof %v", v.proof)
	}
	for _, f := range v.findings {
		wants := f.proof == ProofObserved || f.proof == ProofClock
		if f.wait == never == wants {
			t.Errorf("%v: wait %v", f.proof, f.wait)
		}
	}
	if why := v.held(r.current).Error(); !strings.Contains(why, "of peer/library, whose reigns are not ours") {
		t.Errorf("%s", why)
	}
}

// TestForeignVersions: there is no nonce to tell versions apart, so whatever a
// proof rests on does.
func TestForeignVersions(t *testing.T) {
	for name, change := range map[string]func(*entry.RaceEntry){
		"a renewal":                    func(e *entry.RaceEntry) { e.ElectionNumber++ },
		"another end":                  func(e *entry.RaceEntry) { e.TermExpiry = e.TermExpiry.Add(1) },
		"taken in at another time":     func(e *entry.RaceEntry) { e.TermLength-- },
		"another leader, number again": func(e *entry.RaceEntry) { e.LeaderID = "other" },
		"ours, with a nonce":           func(e *entry.RaceEntry) { e.Nonce = "n" },
	} {
		e := foreignLeads(10 * time.Second)
		r := seenAt(0, e)
		show(r, with(e, change), at(5), at(5))
		if r.seen != 5 {
			t.Errorf("%s is not observed anew", name)
		}
	}
	e := foreignLeads(10 * time.Second)
	r := seenAt(0, e)
	show(r, with(e, func(e *entry.RaceEntry) { e.Token = foreignTok{noon, noon.Add(time.Second)} }), at(5), at(5))
	if r.seen != 0 {
		t.Error("the same version is observed anew")
	}
}

// TestTokensAfterAForeignEntry: it says nothing about the tokens before it.
func TestTokensAfterAForeignEntry(t *testing.T) {
	seconds := noon.Unix()
	for _, tc := range []struct {
		name   string
		change func(r *record, e *entry.RaceEntry)
		token  int64
	}{
		{"the store took it in at noon", func(*record, *entry.RaceEntry) {}, seconds + 1},
		{"a later answer", func(_ *record, e *entry.RaceEntry) { e.Token = foreignTok{noon, noon.Add(9 * time.Second)} }, seconds + 10},
		{"no time at all", func(_ *record, e *entry.RaceEntry) { e.Token = foreignTok{} }, 41},
		{"a high number", func(_ *record, e *entry.RaceEntry) { e.ElectionNumber = entry.ElectionNumber(2 * seconds) }, 2*seconds + 1},
		{"a higher token was seen", func(r *record, _ *entry.RaceEntry) { r.token = 3 * seconds }, 3*seconds + 1},
	} {
		r, e := newRecord(), foreignLeads(10*time.Second)
		tc.change(&r, &e)
		show(&r, e, at(0), at(0))
		if got := r.nextToken(); got != tc.token {
			t.Errorf("%s: token %d, want %d", tc.name, got, tc.token)
		}
		if got := r.nextNumber(); got != e.ElectionNumber+1 {
			t.Errorf("%s: number %d", tc.name, got)
		}
	}
}

// TestForeignEntriesAreBelievedWithCare: a decider may read them, and what they
// cannot say they must not say.
func TestForeignEntriesAreBelievedWithCare(t *testing.T) {
	for name, change := range map[string]func(*entry.RaceEntry){
		"no leader":     func(e *entry.RaceEntry) { e.LeaderID = "" },
		"SentBy":        func(e *entry.RaceEntry) { e.SentBy = noon },
		"token":         func(e *entry.RaceEntry) { e.FencingToken = 1 },
		"checkpoint":    func(e *entry.RaceEntry) { e.Checkpoint = []byte("x") },
		"held":          func(e *entry.RaceEntry) { e.Held = true },
		"length":        func(e *entry.RaceEntry) { e.TermLength = -1 },
		"long":          func(e *entry.RaceEntry) { e.TermLength = entry.MaxTermLength + 1 },
		"number":        func(e *entry.RaceEntry) { e.ElectionNumber = -2 },
		"expiry":        func(e *entry.RaceEntry) { e.TermExpiry = time.Time{} },
		"not UTF-8":     func(e *entry.RaceEntry) { e.HostPort = []string{"\xff"} },
		"no such token": func(e *entry.RaceEntry) { e.Token = undatedTok{} },
	} {
		e := foreignLeads(time.Second)
		if !believable(&e) || e.Validate() == nil {
			t.Fatal("a foreign entry may be read, not written")
		}
		if change(&e); believable(&e) {
			t.Errorf("%s: believed", name)
		}
		if got := readOutcome(&e, nil); got != OutcomeBadEntry {
			t.Errorf("%s: %v", name, got)
		}
	}
	if foreignLeads(0).Foreign() != "peer/library" || otherLeads().Foreign() != "" || nothing(foreignTok{}).Foreign() != "" {
		t.Error("Foreign")
	}
}
