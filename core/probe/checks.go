package probe

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// The checks, in the order of the report.
const (
	CheckRead            = "permission to read"
	CheckCreate          = "permission to create"
	CheckOverwrite       = "permission to overwrite"
	CheckReadBack        = "a read shows the last write, through every handle"
	CheckCreateTwice     = "a second creation is refused"
	CheckOldToken        = "an overwrite of an old version is refused and changes nothing"
	CheckEqualContent    = "equal content makes a new version"
	CheckRacingCreations = "of two racing creations exactly one wins"
	CheckRacingWrites    = "of two racing overwrites exactly one wins"
	CheckKept            = "what was stored stays until it is overwritten"
	CheckOneClock        = "the store's servers agree on the time"
	CheckDated           = "every answer tells the store's time"
	CheckDelete          = "permission to delete"
)

// adviceFor says what to do when a check has failed for good.
func adviceFor(name string) string {
	const ignored = "do not elect here: two would lead at once. If a proxy or a gateway is in between, see whether it drops the condition; else use another store"
	switch name {
	case CheckRead, CheckCreate, CheckOverwrite:
		return "do what the error says, then run the probe again"
	case CheckReadBack:
		return "do not elect here: whoever sees an old entry takes a leader for gone. If a cache is in between, take it out; else use another store, or its strongly consistent endpoint"
	case CheckCreateTwice, CheckOldToken, CheckRacingCreations, CheckRacingWrites:
		return ignored
	case CheckEqualContent:
		return "do not elect here: a leader of the past could overwrite its successor. Use another store"
	case CheckKept:
		return "do not elect here: a leader whose entry vanishes goes on leading. Use another store, and see whether something else writes to this place"
	case CheckOneClock:
		return "set MaxClockSkew, in every candidate, above the difference, or use another store"
	case CheckDated:
		return "elections work without it, but a worker that lives shorter than a term can then take over only by wall clocks that agree"
	case CheckDelete:
		return "elections never delete. Delete what the probe has left behind, or let it"
	}
	return ""
}

const adviceUnclear = "run the probe again; if it stays, see to the store's limits, the endpoint and the network"

// optional are the checks that the verdict does not depend on.
func optional(name string) bool { return name == CheckDated || name == CheckDelete }

// checklist is filled in by several goroutines. What fails stays failed.
type checklist struct {
	mu     sync.Mutex
	checks []core.ProbeCheck
}

func newChecklist() *checklist {
	l := &checklist{}
	for _, name := range []string{
		CheckRead, CheckCreate, CheckOverwrite, CheckReadBack, CheckCreateTwice, CheckOldToken, CheckEqualContent,
		CheckRacingCreations, CheckRacingWrites, CheckKept, CheckOneClock, CheckDated, CheckDelete,
	} {
		l.checks = append(l.checks, core.ProbeCheck{Name: name, Optional: optional(name),
			Inconclusive: true, Detail: "not tried, because of what came before"})
	}
	return l
}

// set replaces a check, unless it has failed already.
func (l *checklist) set(check core.ProbeCheck) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.checks, func(c core.ProbeCheck) bool { return c.Name == check.Name })
	if old := l.checks[i]; old.Passed || old.Inconclusive {
		check.Optional = old.Optional
		l.checks[i] = check
	}
}

func (l *checklist) pass(name, format string, args ...any) {
	l.set(core.ProbeCheck{Name: name, Passed: true, Detail: fmt.Sprintf(format, args...)})
}

// fail notes a failure: for good, or without a proof if err is an *unclearError.
func (l *checklist) fail(name string, err error) {
	check := core.ProbeCheck{Name: name, Detail: err.Error(), Advice: adviceFor(name)}
	var silence *unclearError
	if errors.As(err, &silence) {
		check.Inconclusive, check.Advice = true, adviceUnclear
	}
	l.set(check)
}

// passed reports whether all of these have passed; without names, all that the
// verdict depends on.
func (l *checklist) passed(names ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.checks {
		asked := slices.Contains(names, c.Name) || len(names) == 0 && !c.Optional
		if asked && !c.Passed {
			return false
		}
	}
	return true
}

// failed reports whether anything has failed for good that the verdict depends on.
func (l *checklist) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.checks, refused)
}

// refused reports whether a check says that the store must not be used.
func refused(c core.ProbeCheck) bool { return !c.Passed && !c.Inconclusive && !c.Optional }

// judgeClock fills in what the dates of all answers say.
func (l *checklist) judgeClock(r core.ProbeReport) {
	if r.Answers == 0 {
		return
	}
	missing := r.Answers - r.DatedAnswers
	switch {
	case missing > 0:
		l.fail(CheckDated, fmt.Errorf("%d of %d answers did not", missing, r.Answers))
	default:
		l.pass(CheckDated, "%d answers", r.Answers)
	}
	// Rounding up to whole seconds is in the figures already.
	const tolerated = time.Second
	switch apart := r.ClockAheadMin - r.ClockAheadMax; {
	case r.DatedAnswers == 0:
		l.pass(CheckOneClock, "no answer tells the time")
	case apart > tolerated:
		l.fail(CheckOneClock, fmt.Errorf("two answers were dated by clocks that are %v apart at least", apart.Round(time.Millisecond)))
	default:
		l.pass(CheckOneClock, "%d dated answers", r.DatedAnswers)
	}
}
