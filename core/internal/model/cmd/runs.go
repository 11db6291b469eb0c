package main

import "strings"

// The claims of the model, as it prints them.
const (
	twoLeaders  = "violated: two leaders"
	outlasts    = "violated: a reign that outlasts its term"
	tokenAgain  = "violated: a fencing token that does not rise"
	noChain     = "violated: a version that does not name the one before it"
	unconfirmed = "violated: believed before it was confirmed"
	earlyVacant = "violated: vacant before the work has stopped"
	falseLoss   = "violated: a reign that was told lost within its term"
	nobodyLeads = "violated: two terms without faults and without a leader"
)

// run is one search.
type run struct {
	name string
	what string // what it is, in words
	// defines are the switches of the model.
	defines []string
	// finds is what the search must print: a claim or a trap of the model. Empty: it must
	// get to its end without finding anything.
	finds string
	// long: not in -quick. large: worth an optimizing compiler although it finds something.
	long, large bool
}

// passes tells whether the run is one that must find nothing.
func (r run) passes() bool { return r.finds == "" }

// runs are all of them. The bounds are chosen so that each ends within 6 GB.
func runs() []run {
	var all []run
	all = append(all, searches()...)
	all = append(all, mutants()...)
	all = append(all, outside()...)
	return append(all, traps()...)
}

// on splits "A=1 B" into switches.
func on(s string) []string { return strings.Fields(s) }

// base are the bounds of most runs: two candidates, terms of two ticks, three nonces in use.
const base = "SLOTS=3 TERM_A=2 TERM_B=2 "

// searches are of the protocol as it is: nothing may be found.
func searches() []run {
	long := func(name, says, defines string) run {
		return run{name: name, what: says, defines: on(defines), long: true}
	}
	quick := func(name, says, defines string) run { return run{name: name, what: says, defines: on(defines)} }
	return []run{
		long("two-clock-some-dates", "clock proofs, wall clocks agree, some answers without a Date, terms of 1", "SLOTS=3 TERM_A=1 TERM_B=1 CLOCK=1 DATES=2"),
		long("three-more-nonces", "three candidates, no store time, 4 nonces", "N=3 SLOTS=4 TERM_A=2 TERM_B=2 DATES=0"),
		long("three-terms", "three candidates, terms of 2 and 1", "N=3 SLOTS=3 TERM_A=2 TERM_B=1"),
		long("three-store-time", "three candidates, the store tells its time", "N=3 SLOTS=3 TERM_A=2 TERM_B=2"),
		long("two-more-nonces", "4 nonces, terms of 3 and 2", "SLOTS=4 TERM_A=3 TERM_B=2"),
		long("two-catch-up", "a monotonic clock may catch up", base+"CATCHUP"),
		long("two-clock-agrees", "clock proofs, wall clocks agree, no store time", base+"CLOCK=1 DATES=0"),
		long("two-some-dates", "any answer may lack its Date", base+"DATES=2"),
		long("two-terms", "terms of 3 and 2", "SLOTS=3 TERM_A=3 TERM_B=2"),
		quick("two-terms-short", "terms of 2 and 1", "SLOTS=3 TERM_A=2 TERM_B=1"),
		quick("two-some-dates-short", "any answer may lack its Date, terms of 1", "SLOTS=3 TERM_A=1 TERM_B=1 DATES=2"),
		quick("two-clock-short", "clock proofs, wall clocks agree, no store time, terms of 1", "SLOTS=3 TERM_A=1 TERM_B=1 CLOCK=1 DATES=0"),
		quick("three", "three candidates, no store time", "N=3 SLOTS=3 TERM_A=2 TERM_B=2 DATES=0"),
		quick("two", "the store tells its time; NoClockProof", base),
		quick("two-no-dates", "the store tells no time", base+"DATES=0"),
		quick("two-clock-anything", "wall clocks show anything, the store's time decides", base+"CLOCK=2"),
		quick("two-reclaim", "Reclaim is set", base+"RECLAIM"),
		quick("two-live", "somebody leads two terms after the faults", base+"LIVE DATES=0"),
	}
}

// mutants are the protocol with one fault each, which must be found.
func mutants() []run {
	m := func(sw, says, defines, finds string) run {
		defines += " KEEP_NUMBERS MUT_" + sw
		if finds == twoLeaders {
			defines += " LEADERS_ONLY"
		}
		return run{name: dashed(sw), what: says, defines: on(defines), finds: finds,
			large: strings.HasPrefix(sw, "SENTBY_") || strings.HasPrefix(sw, "OBSERV") || sw == "NEWEST_SENT"}
	}
	const dateless = base + "DATES=0"
	return []run{
		m("NO_MARGIN", "no margin on top of the term", dateless, twoLeaders),
		m("STORE_MARGIN", "max(T/20, MaxClockSkew) as store margin, before ADR 0010", base+"SKEW=2", twoLeaders),
		m("OWN_TERM", "waits out its own TermLength, not the entry's", "SLOTS=3 TERM_A=3 TERM_B=1 DATES=0", twoLeaders),
		m("DEADLINE_FROM_ANSWER", "a term counts from the answer, not from the sending", dateless, twoLeaders),
		m("NEWEST_SENT", "an older write is credited with the newest one's sending", "SLOTS=4 TERM_A=2 TERM_B=2 DATES=0", outlasts),
		m("MONO_ONLY", "a leader counts by its monotonic clock only", dateless, twoLeaders),
		m("WALL_ONLY", "a leader counts by its wall clock only", dateless, twoLeaders),
		m("OBSERVED_BY_LARGER", "an observer counts the larger steps, as a leader does", dateless, twoLeaders),
		m("OBSERVED_BY_MONO", "an observer counts by its monotonic clock, before ADR 0015", base+"DATES=0 CATCHUP", twoLeaders),
		m("OBSERVED_BY_WALL", "an observer counts by its wall clock", dateless, twoLeaders),
		m("OBSERVED_FROM_REQUEST", "an observation counts from the sending of the read", dateless, twoLeaders),
		m("OBSERVATION_GOES_ON", "an observation is not restarted by a new version", dateless, twoLeaders),
		m("OBSERVATION_BY_LEADER", "an observation is restarted by a new leader only", dateless, twoLeaders),
		m("NO_READ_BACK", "an unknown answer is taken for stored", dateless, unconfirmed),
		m("NONCE_NOT_COMPARED", "lost is believed without a look at the nonce", dateless, falseLoss),
		m("NONCES_PER_PROCESS", "nonces of an ended reign win again", dateless, tokenAgain),
		m("LATE_CONFIRMATION", "a late confirmation revives a reign", dateless, tokenAgain),
		m("RESIGN_BEFORE_END", "the vacant entry is written before the end", dateless, twoLeaders),
		m("RESIGN_BEFORE_WORK_STOPPED", "the vacant entry is written before the work has stopped", dateless, earlyVacant),
		m("NO_PRECONDITION", "writes have no condition", dateless, noChain),
		m("NO_SECOND", "no second for the Date's cut in SentBy", base, twoLeaders),
		m("SENTBY_MONO", "SentBy by the monotonic clock only", base, twoLeaders),
		m("SENTBY_ENDS", "SentBy by the larger clock from end to end, before ADR 0003", base, twoLeaders),
		m("CLOCK_OVERRULES", "a clock proof overrules the store's time", base+"CLOCK=2", twoLeaders),
		m("NEVER_OBSERVES", "there is no observed proof", base+"DATES=0 LIVE", nobodyLeads),
	}
}

// outside are what docs/SAFETY.md calls outside: two leaders must be found, or the
// claims could not be trusted where they hold.
func outside() []run {
	o := func(name, says, defines string) run {
		return run{name: "outside-" + name, what: says, defines: on(defines + " KEEP_NUMBERS LEADERS_ONLY"), finds: twoLeaders}
	}
	return []run{
		o("both-frozen", "both clocks of a host stand still", base+"DATES=0 OUT_BOTH_FROZEN"),
		o("rate", "clocks are off by 5 %", base+"DATES=0 OUT_RATE"),
		o("twin", "Reclaim with a live twin", base+"DATES=0 OUT_TWIN"),
		o("walls", "clock proofs, and wall clocks do not agree", base+"DATES=0 CLOCK=2"),
		o("break", "elect break --now under a leader", base+"DATES=0 OUT_BREAK"),
	}
}

// traps say that something never happens, and must fail: what the claims are about is
// within reach.
func traps() []run {
	t := func(sw, says, defines, finds string) run {
		return run{name: "reach-" + dashed(sw), what: says, defines: on(defines + " KEEP_NUMBERS REACH REACH_" + sw), finds: "reached: " + finds}
	}
	const dateless = base + "DATES=0"
	return []run{
		t("VACANT", "proof vacant", dateless, "a win by vacant"),
		t("RECLAIMED", "proof reclaimed", dateless, "a win by reclaimed"),
		t("STORE_TIME", "proof store-time", base, "a win by store-time"),
		t("OBSERVED", "proof observed", dateless, "a win by observed"),
		t("CLOCK", "proof clock", "SLOTS=3 TERM_A=1 TERM_B=1 DATES=0 CLOCK=1", "a win by clock"),
		t("LOSS", "a proved loss within the term, after elect break --now", dateless+" OUT_BREAK", "a proved loss within the term"),
		t("LATE_LOSS", "a proved loss after the term", dateless, "a proved loss after the term"),
		t("EXPIRED", "a term ends", dateless, "a term that ends"),
		t("JUMP", "a clock that is set forward ends a reign", dateless, "a reign that a jump of a clock ends"),
		t("RESIGNED", "a resignation", dateless, "a resignation"),
		t("CRASH", "a leader crashes", dateless, "a crash of a leader"),
		t("ADOPTED_WIN", "a win whose answer was lost is adopted", dateless, "a win whose answer was lost"),
		t("ADOPTED_RENEWAL", "a renewal whose answer was lost is adopted", dateless, "a renewal whose answer was lost"),
		t("EXPIRED_WIN", "a win is confirmed too late, and is none", dateless, "a win that was confirmed too late"),
		t("LATE_WRITE", "a write lands after its sender has given up", dateless, "a write that lands when nobody waits for it"),
		t("WRITE_OF_THE_DEAD", "a write lands after its sender has crashed", dateless, "a write that lands when its sender has forgotten it"),
	}
}

// dashed is the name of a run for a switch of the model.
func dashed(sw string) string { return strings.ToLower(strings.ReplaceAll(sw, "_", "-")) }
