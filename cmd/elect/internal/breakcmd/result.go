package breakcmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/core/entry"
)

// result is what `elect break --json` prints.
type result struct {
	Store                string    `json:"store"`
	Action               string    `json:"action"` // ended, vacated (--now) or replaced (--corrupt)
	PreviousLeaderID     string    `json:"previous_leader_id,omitempty"`
	PreviousFencingToken *int64    `json:"previous_fencing_token,omitempty"`
	PreviousVersion      string    `json:"previous_version,omitempty"`
	LeaderID             string    `json:"leader_id,omitempty"` // of the new entry
	FencingToken         int64     `json:"fencing_token"`
	ElectionNumber       int64     `json:"election_number"`
	Version              string    `json:"version,omitempty"`
	NextLeaderInMS       int64     `json:"next_leader_in_ms"` // 0: at once
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
		r.PreviousLeaderID, r.PreviousFencingToken = b.before.Entry.LeaderID, &token
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
	r.NextLeaderAt = time.Now().Add(wait).UTC().Truncate(time.Millisecond)
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
		line(r.Action, "the reign of %s with fencing token %d", statuscmd.Safe(r.PreviousLeaderID), *r.PreviousFencingToken)
	}
	if r.LeaderID != "" {
		line("written by", "%s", statuscmd.Safe(r.LeaderID))
	}
	line("fencing token", "%d", r.FencingToken)
	if r.Version != "" {
		line("version", "%s", r.Version)
	}
	if r.NextLeaderInMS == 0 {
		line("next leader", "at once; the old one may go on until its next renewal fails or its term ends")
		return b.String()
	}
	wait := time.Duration(r.NextLeaderInMS) * time.Millisecond
	line("next leader", "in %s (%s), when the old one must have noticed; at once: elect break --now --fencing-token %d",
		statuscmd.Seconds(wait), r.NextLeaderAt.Local().Format(time.TimeOnly), r.FencingToken)
	return b.String()
}
