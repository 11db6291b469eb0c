package chaos

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Result is what a run has shown.
type Result struct {
	Seed        uint64                `json:"seed"`
	Seconds     float64               `json:"seconds"`
	Elections   int                   `json:"elections"`
	Reigns      int                   `json:"reigns"`        // whose COMMAND has written
	Silent      int                   `json:"silent_reigns"` // whose COMMAND was gone before it had
	Endings     map[Ending]int        `json:"endings"`
	Faults      map[Act]int           `json:"faults"`
	Candidates  int                   `json:"candidates"`       // processes started
	ClocksOff   int                   `json:"clocks_hours_off"` // of them with a clock an hour off or more
	Accepted    int                   `json:"accepted"`
	Refused     int                   `json:"refused"`
	Overlaps    int                   `json:"overlaps"`         // violations
	Excused     int                   `json:"overlaps_outside"` // after a store's clock had jumped forward
	Judged      int                   `json:"judged"`           // verdicts about time
	Void        int                   `json:"void"`             // of them those that prove nothing
	Failovers   map[Ending]Percentile `json:"failovers_ms"`
	ByStore     map[string]StoreCount `json:"stores"`
	WorstLagMS  int64                 `json:"worst_lag_ms"`
	Processes   int                   `json:"most_processes"`
	ElectFiles  int                   `json:"most_files_of_an_elect"`
	Interrupted bool                  `json:"interrupted,omitempty"`
	Violations  []Violation           `json:"violations,omitempty"`
}

// Percentile is how long it took in how many cases, in milliseconds.
type Percentile struct {
	Count  int   `json:"count"`
	Median int64 `json:"median"`
	Most99 int64 `json:"p99"`
	Most   int64 `json:"max"`
}

// StoreCount is a store's part of it.
type StoreCount struct {
	Reigns  int            `json:"reigns"`
	Endings map[Ending]int `json:"endings"`
}

// result counts what the umpire has seen. stores names the store of each election.
func (u *Umpire) result(stores []string) Result {
	r := Result{Seed: u.Seed, Elections: len(u.bouts), Excused: u.excused, Judged: u.judged, Void: u.voids,
		Failovers: make(map[Ending]Percentile), ByStore: make(map[string]StoreCount), Violations: u.violations}
	var all tally
	byStore := make(map[string]*tally)
	for i, b := range u.bouts {
		all.add(b.tally)
		if byStore[stores[i]] == nil {
			byStore[stores[i]] = new(tally)
		}
		byStore[stores[i]].add(b.tally)
	}
	r.Reigns, r.Silent, r.Endings, r.Faults = all.Reigns, all.Silent, all.Endings, all.Acts
	r.Accepted, r.Refused, r.Candidates, r.ClocksOff = all.Accepted, all.Refused, all.Hired, all.Off
	for ending, took := range all.Failovers {
		r.Failovers[ending] = Percentile{len(took), at(took, 0.5).Milliseconds(), at(took, 0.99).Milliseconds(), at(took, 1).Milliseconds()}
	}
	for store, t := range byStore {
		r.ByStore[store] = StoreCount{t.Reigns, t.Endings}
	}
	for _, v := range u.violations {
		if v.Rule == RuleOverlap {
			r.Overlaps++
		}
	}
	return r
}

// demand adds what a run has not met often enough to the violations.
func (r *Result) demand(g Goals) {
	missed := func(rule Rule, format string, args ...any) {
		r.Violations = append(r.Violations, Violation{Rule: rule, Election: noElection, Seed: r.Seed, What: fmt.Sprintf(format, args...)})
	}
	if r.Reigns < g.Reigns {
		missed(RuleGoals, "%d reigns were seen, %d are wanted: is this machine too slow for so many elections?", r.Reigns, g.Reigns)
	}
	for _, e := range endings() {
		if r.Endings[e] < g.EachEnds {
			missed(RuleGoals, "%d reigns were ended by %s, %d are wanted", r.Endings[e], e, g.EachEnds)
		}
	}
	if g.EachAct {
		for _, c := range cards() {
			if r.Faults[c.act] == 0 {
				missed(RuleGoals, "%s was never done", c.act)
			}
		}
	}
	if g.EachAct && r.ClocksOff == 0 {
		missed(RuleGoals, "nobody's clock was hours off")
	}
	if most := voidsAllowed + r.Judged/voidsPerJudged; r.Void > most {
		missed(RuleVoid, "%d of %d verdicts are void, %d may be: run it on a machine with less to do", r.Void, r.Judged, most)
	}
}

// Voids are allowed, in the few moments when a machine does something else.
const (
	voidsAllowed   = 5
	voidsPerJudged = 200
)

// Print writes the result as tables for people.
func (r Result) Print(w io.Writer) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	kinds := append(endings(), Weather, Outside, Closing, Unexplained)
	fmt.Fprint(t, "\nended by")
	for _, e := range kinds {
		fmt.Fprintf(t, "\t%s", e)
	}
	fmt.Fprintln(t, "\tall reigns")
	row := func(name string, n map[Ending]int, sum int) {
		fmt.Fprint(t, name)
		for _, e := range kinds {
			fmt.Fprintf(t, "\t%d", n[e])
		}
		fmt.Fprintf(t, "\t%d\n", sum)
	}
	for _, store := range slices.Sorted(maps.Keys(r.ByStore)) {
		row(store, r.ByStore[store].Endings, r.ByStore[store].Reigns)
	}
	row("all", r.Endings, r.Reigns)
	fmt.Fprintln(t, "\nuntil somebody led after\tcount\tmedian ms\t99 %\tmost")
	for _, e := range kinds {
		if p := r.Failovers[e]; p.Count > 0 {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", e, p.Count, p.Median, p.Most99, p.Most)
		}
	}
	_ = t.Flush() // into memory
	fmt.Fprintln(&b, "\nfaults")
	line := " "
	for _, act := range slices.Sorted(maps.Keys(r.Faults)) {
		word := fmt.Sprintf(" %s %d", act, r.Faults[act])
		if len(line)+len(word) > 100 {
			fmt.Fprintln(&b, line)
			line = " "
		}
		line += word
	}
	fmt.Fprintln(&b, line)
	fmt.Fprintf(&b, "\ncandidates: %d, of them with a clock that was hours off: %d\nrecords: %d accepted, %d refused; overlaps: %d, and %d outside of what can be promised\n"+
		"verdicts about time: %d, of them void: %d; the harness was late by %d ms at most\n"+
		"processes: %d at most; open files of an elect: %d at most\n",
		r.Candidates, r.ClocksOff, r.Accepted, r.Refused, r.Overlaps, r.Excused, r.Judged, r.Void, r.WorstLagMS, r.Processes, r.ElectFiles)
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "\n%s", v)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict is the last line.
func (r Result) verdict() string {
	took := time.Duration(r.Seconds * float64(time.Second)).Round(time.Second)
	switch {
	case len(r.Violations) > 0:
		return fmt.Sprintf("chaos: FAILED after %v: %s (seed %d)", took, r.Violations[0].Rule, r.Seed)
	case r.Interrupted:
		return fmt.Sprintf("chaos: interrupted after %v; nothing was wrong until then (seed %d)", took, r.Seed)
	}
	return fmt.Sprintf("chaos: %d reigns in %v, and everything held (seed %d)", r.Reigns, took, r.Seed)
}
