package chaos

import (
	"fmt"
	"strings"
)

// Rule is one thing that must hold.
type Rule string

// The rules: doc.go says them in full.
const (
	RuleStale   Rule = "nothing stale is accepted"
	RuleFence   Rule = "the newest reign is not refused"
	RuleTokens  Rule = "tokens rise from reign to reign"
	RuleOverlap Rule = "no reign overlaps another"
	RuleThawed  Rule = "what was frozen too long is gone soon after it goes on"
	RuleLeader  Rule = "somebody leads two terms after the last fault"
	RuleExit    Rule = "elect ends as documented"
	RuleProcess Rule = "no process is left"
	RuleHandles Rule = "no goroutine or file descriptor is left"
	RuleGoals   Rule = "everything was met often enough"
	RuleVoid    Rule = "hardly any verdict is void"
	RuleHarness Rule = "the harness sees everything"
)

// noElection: it is about the run as a whole.
const noElection = -1

// Violation is a rule that did not hold.
type Violation struct {
	Rule     Rule     `json:"rule"`
	Election int      `json:"election"` // noElection: of the run as a whole
	What     string   `json:"what"`
	Seed     uint64   `json:"seed"`
	History  []string `json:"history,omitempty"` // the end of that election's
}

// String is the violation with its history.
func (v Violation) String() string {
	where := "the run"
	if v.Election != noElection {
		where = fmt.Sprintf("election %d", v.Election)
	}
	text := fmt.Sprintf("violated: %s\n  in %s, with -seed %d: %s\n", v.Rule, where, v.Seed, v.What)
	if len(v.History) > 0 {
		text += "  its history:\n    " + strings.Join(v.History, "\n    ") + "\n"
	}
	return text
}
