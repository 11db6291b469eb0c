package breakcmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/core/entry"
)

// result is what `elect break --json` prints.
type result struct {
	Store                string    `json:"store"`
	Action               string    `json:"action"` // ended, vacated (--now) or replaced (--corrupt)
	PreviousLeaderID     string    `json:"previous_leader_id,omitempty"`
	PreviousFencingToken *int64    `json:"previous_fencing_token,omitempty"`
	PreviousForeign      string    `json:"previous_foreign,omitempty"` // the library that wrote it, which has no fencing tokens
	PreviousVersion      string    `json:"previous_version,omitempty"`
	PreviousHeld         bool      `json:"previous_held,omitempty"` // that reign was done, and kept the election closed
	LeaderID             string    `json:"leader_id,omitempty"`     // of the new entry
	FencingToken         int64     `json:"fencing_token"`
	ElectionNumber       int64     `json:"election_number"`
	Version              string    `json:"version,omitempty"`
	NextLeaderInMS       int64     `json:"next_leader_in_ms"` // not sooner; 0: at once
	NextLeaderAt         time.Time `json:"next_leader_at"`    // on the local clock
}

// result describes that e is stored now.
func (b *breaker) result(e entry.RaceEntry) *result {
	r := &result{
		Store: b.store, Action: "ended", PreviousVersion: b.before.Version(),
		LeaderID: e.LeaderID, FencingToken: e.FencingToken, ElectionNumber: int64(e.ElectionNumber),
		Version: statuscmd.Sight{Entry: e}.Version(),
	}
	if b.before.Bad == nil {
		token := b.before.Entry.FencingToken
		r.PreviousLeaderID, r.PreviousFencingToken, r.PreviousHeld = b.before.Entry.LeaderID, &token, b.before.Entry.Held
		if r.PreviousForeign = b.before.Entry.Foreign(); r.PreviousForeign != "" {
			r.PreviousFencingToken = nil
		}
	} else {
		r.Action = "replaced"
	}
	var wait time.Duration
	if b.now {
		if b.before.Bad == nil {
			r.Action = "vacated"
		}
	} else {
		wait = e.TermLength + e.TermLength/20 // with the margin for clock rates
	}
	r.NextLeaderInMS = wait.Milliseconds()
	r.NextLeaderAt = b.clock.Now().Add(wait).UTC().Truncate(time.Millisecond)
	return r
}

// text is the result for people.
func (r *result) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Store)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-15s  %s\n", name, fmt.Sprintf(format, args...))
	}
	switch r.Action {
	case "replaced":
		line("replaced", "version %s, which was not an entry", r.PreviousVersion)
	default:
		what := "the reign"
		if r.PreviousHeld {
			what = "the hold"
		}
		if r.PreviousForeign != "" {
			line(r.Action, "the reign of %s by version %s, an entry of %s", statuscmd.Safe(r.PreviousLeaderID), r.PreviousVersion, r.PreviousForeign)
			line("form", "JSON now, which candidates of %s cannot read", r.PreviousForeign)
			break
		}
		line(r.Action, what+" of %s with fencing token %d", statuscmd.Safe(r.PreviousLeaderID), *r.PreviousFencingToken)
	}
	if r.LeaderID != "" {
		line("written by", "%s", statuscmd.Safe(r.LeaderID))
	}
	line("fencing token", "%d", r.FencingToken)
	if r.Version != "" {
		line("version", "%s", r.Version)
	}
	line("next leader", "%s", r.next())
	return b.String()
}

// next says when the next leader can come, and what became of the old one.
func (r *result) next() string {
	// MinHold's, not that of an operator, whose leader may still run.
	done := r.PreviousHeld && !strings.HasPrefix(r.PreviousLeaderID, operatorMark)
	switch {
	case r.NextLeaderInMS == 0 && done:
		return "at once; the reign that held the election closed was done before"
	case r.NextLeaderInMS == 0:
		return "at once; the old one may go on until its next renewal fails or its term ends"
	}
	why := "when the old one must have noticed"
	if done {
		why = "for the election is held anew, though the old reign was done before"
	}
	wait := time.Duration(r.NextLeaderInMS) * time.Millisecond
	return fmt.Sprintf("not before about %s from now (%s), %s; at once: elect break --store %s --now --fencing-token %d",
		statuscmd.Seconds(wait), r.NextLeaderAt.Local().Format(time.TimeOnly), why, cliutil.ShellWord(r.Store), r.FencingToken)
}
