package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// Proof is the reason why an election may be taken: each one shows that the
// last reign is over, under the assumption that its comment names.
type Proof int

const (
	// ProofNone: there is no proof.
	ProofNone Proof = iota
	// ProofVacant: the last leader resigned, or nothing was ever stored here.
	// Assumes that nobody deletes entries while somebody leads.
	ProofVacant
	// ProofReclaimed: the entry is of a reign of our own that is over. Assumes
	// the promise of Config.Reclaim, where that is what it rests on.
	ProofReclaimed
	// ProofStoreTime: on the store's own clock the term is over. Assumes that
	// the store's servers agree within MaxClockSkew.
	ProofStoreTime
	// ProofObserved: nothing was written for a whole term and its margin by both
	// of our clocks. Assumes that no clock is fast or slow by more than 2.4 %.
	ProofObserved
	// ProofClock: on our wall clock the term is over. Assumes that wall clocks
	// agree within MaxClockSkew.
	ProofClock
)

// String returns the proof's name as events, logs and docs/SAFETY.md have it.
func (p Proof) String() string {
	switch p {
	case ProofNone:
		return "none"
	case ProofVacant:
		return "vacant"
	case ProofReclaimed:
		return "reclaimed"
	case ProofStoreTime:
		return "store-time"
	case ProofObserved:
		return "observed"
	case ProofClock:
		return "clock"
	}
	return fmt.Sprintf("Proof(%d)", int(p))
}

// MarshalText makes a proof readable in JSON.
func (p Proof) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// rules are the settings that a judgement depends on.
type rules struct {
	self    string
	term    time.Duration
	skew    time.Duration
	reclaim bool
	noClock bool
}

func (s *settings) rules() rules {
	return rules{self: s.LeaderID, term: s.TermLength, skew: s.MaxClockSkew,
		reclaim: s.Reclaim, noClock: s.NoClockProof}
}

// verdict is the outcome of a judgement.
type verdict struct {
	proof Proof
	// wait is how long until a proof can hold if nobody writes; never when
	// none ever can. Zero when one holds.
	wait time.Duration
	// findings are what each proof said, in the order they were tried.
	findings []finding
}

// finding is what one proof says about the current version.
type finding struct {
	proof Proof
	// wait is 0 when the proof holds, never when it cannot.
	wait time.Duration
	why  string
}

const never = time.Duration(1<<63 - 1)

// rateMargin covers a leader whose clock is slow by 1/41 (2.4 %) and an
// observer whose clock is fast by as much.
func rateMargin(term time.Duration) time.Duration { return term / 20 }

// storeMargin covers a leader whose clock is slow by 1/41, which holds on for
// a fortieth of the term too long, while the server that answers is ahead of
// the one that the leader had its time from by as much as servers may be.
func storeMargin(term, skew time.Duration) time.Duration {
	return max(rateMargin(term), term/40+skew)
}

// judge decides whether the record, as known now, may be overwritten. It is
// the only way to a win.
func judge(r *record, now instant, rule rules) verdict {
	v := judgeSight(r, now, rule)
	if h := r.hold; h.token != 0 && now.sure < h.until && (r.sight != sightEntry || r.current.FencingToken <= h.token) {
		held := finding{ProofNone, h.until - now.sure, "this process won within MinHold"}
		return verdict{wait: max(v.wait, held.wait), findings: append([]finding{held}, v.findings...)}
	}
	return v
}

func judgeSight(r *record, now instant, rule rules) verdict {
	switch r.sight {
	case sightAbsent:
		return settleVerdict(judgeAbsent(r, now, rule))
	case sightEntry:
		return settleVerdict(
			judgeVacant(r),
			judgeReclaimed(r, rule),
			judgeStoreTime(r, now, rule),
			judgeObserved(r, now, rule),
			judgeClock(r, now, rule),
		)
	case sightBad:
		return settleVerdict(finding{ProofNone, never, "what is stored is not an entry: an operator has to break it"})
	}
	return settleVerdict(finding{ProofNone, never, "the store has not answered yet"})
}

func settleVerdict(findings ...finding) verdict {
	v := verdict{wait: never, findings: findings}
	for _, f := range findings {
		if f.wait <= 0 {
			return verdict{proof: f.proof}
		}
		v.wait = min(v.wait, f.wait)
	}
	return v
}

// judgeAbsent: nothing is stored. If this process has never seen anything here
// that is a fresh election. Otherwise somebody deleted the entry, maybe under a
// leader, and that leader's term has to pass first.
func judgeAbsent(r *record, now instant, rule rules) finding {
	if !r.ever {
		return finding{proof: ProofVacant}
	}
	term := max(r.longest, rule.term)
	return finding{ProofObserved, r.seen + term + rateMargin(term) - now.sure,
		"the entry has vanished: the longest term that it can have granted must pass"}
}

func judgeVacant(r *record) finding {
	if r.current.Vacant() {
		return finding{proof: ProofVacant}
	}
	return finding{ProofVacant, never, "somebody leads"}
}

func judgeReclaimed(r *record, rule rules) finding {
	switch {
	case r.current.Held:
		return finding{ProofReclaimed, never, "held until its term is over"}
	case r.current.Foreign() != "":
		return finding{ProofReclaimed, never, "of " + r.current.Foreign() + ", whose reigns are not ours"}
	case slices.Contains(r.ended, r.current.Nonce):
		return finding{proof: ProofReclaimed}
	case rule.reclaim && r.current.LeaderID == rule.self:
		return finding{proof: ProofReclaimed}
	}
	return finding{ProofReclaimed, never, "not an ended reign of our own"}
}

// judgeStoreTime compares the store's clock with itself: SentBy bounds it from
// above when the term began, Date from below now.
func judgeStoreTime(r *record, now instant, rule rules) finding {
	if !storeTimeJudged(r) {
		return finding{ProofStoreTime, never, "the store's time is not known"}
	}
	e := r.current
	over := e.SentBy.Add(e.TermLength + storeMargin(e.TermLength, rule.skew))
	if !r.date.Before(over) {
		return finding{proof: ProofStoreTime}
	}
	// Dates are whole seconds, so the first one that proves anything is the
	// next whole second; the answer that shows it has to be fetched first.
	whole := over.Truncate(time.Second)
	if whole.Before(over) {
		whole = whole.Add(time.Second)
	}
	wait := whole.Sub(r.date) - (now.mono - r.dateAt)
	return finding{ProofStoreTime, max(wait, 1), "the term is not over on the store's clock"}
}

func storeTimeJudged(r *record) bool { return !r.current.SentBy.IsZero() && !r.date.IsZero() }

// judgeObserved is the classical lease: this version has stood for its own
// term, by both clocks of ours.
func judgeObserved(r *record, now instant, rule rules) finding {
	term, margin := observedTerm(r.current, rule)
	return finding{ProofObserved, max(r.seen+term+margin-now.sure, 0),
		"this version was not observed for a whole term yet"}
}

// observedTerm is how long e has to stand before its term is over. A foreign entry
// names no length: what counts is the longer of our own and of what was left of
// it when the store took it in. The latter compares the writer's clock with the store's, so
// it may be too short by what clocks may differ.
func observedTerm(e *entry.RaceEntry, rule rules) (term, margin time.Duration) {
	if e.Foreign() == "" {
		return e.TermLength, rateMargin(e.TermLength)
	}
	term = max(e.TermLength, rule.term)
	return term, rateMargin(term) + rule.skew
}

// judgeClock believes the writer's wall clock. Wherever the store's own time
// can decide it must: a wall clock that may overrule it elects two leaders.
func judgeClock(r *record, now instant, rule rules) finding {
	switch {
	case rule.noClock:
		return finding{ProofClock, never, "wall clocks are not to be believed (NoClockProof)"}
	case storeTimeJudged(r):
		return finding{ProofClock, never, "the store's time decides"}
	}
	over := r.current.TermExpiry.Add(rule.skew)
	wait := time.Duration(0)
	if !now.wall.After(over) {
		wait = later(over.Sub(now.wall), 1)
	}
	if !r.storeTime.IsZero() && !r.storeTime.After(over) {
		// Dates are whole seconds: the first one past it is the next of them.
		wait = max(wait, over.Truncate(time.Second).Add(time.Second).Sub(r.storeTime))
	}
	return finding{ProofClock, wait, "the term is not over on the wall clock"}
}

// held turns a verdict into the error that says so.
func (v verdict) held(current *entry.RaceEntry) *HeldError {
	var why []string
	if v.proof != ProofNone {
		why = append(why, fmt.Sprintf("it is free (%v), but no attempt to take it was answered", v.proof))
	}
	for _, f := range v.findings {
		why = append(why, fmt.Sprintf("%v: %s", f.proof, f.why))
	}
	return &HeldError{Current: current.Clone(), RetryAfter: v.wait, Reason: strings.Join(why, "; ")}
}
