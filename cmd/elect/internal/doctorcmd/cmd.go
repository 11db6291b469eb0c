// Package doctorcmd is `elect doctor`: it finds out whether a store can carry an
// election, before one depends on it.
package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/hostclock"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
)

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var url string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor --store URL",
		Short: "Find out whether a store can carry an election",
		Long: `doctor tries on scratch records beside the election, never on the election's
own, whether the store honours the conditions that elections rely on. Some
stores accept a condition and ignore it, and then everybody leads.

The election's own record is read once, to show its state and the time left.

It creates, creates again, overwrites with an old token, lets pairs of writers
race, and reads back through several handles; it tries the permissions one by
one, and measures the round trip and the store's clock against this host's. It
takes five seconds, or ten where the store wants a second between two writes,
and longer while the store is busy. What it writes bears the election's name with
".probe-..." appended, and is deleted in the end.

A store that wants a pause between two writes to one key (R2 does) is probed, and
used, with write-interval=1s in the URL.

A yes is for this store, these credentials and this way to it: run it where the
election will run. A check that came to no conclusion makes the verdict no.

--json prints one line: store, verdict (a sentence), usable, checks (name, passed,
optional, inconclusive, detail, advice), round_trip_median_ns, round_trip_worst_ns,
answers, dated_answers, clock_ahead_min_ns and clock_ahead_max_ns (this host's clock
minus the store's lies between), clock_warning, unclear_answers, left_behind, election
(what elect status --json prints of the election itself; left out if it cannot be read).

Exit codes: 0 the store can be used; 1 it must not be used, or nothing is proved;
64 the command line is wrong; 69 as everywhere; 78 the set-up is wrong, the bucket or
the table is not there, or cannot be read.`,
		Example: `  elect doctor --store gs://my-bucket/elections/nightly
  elect doctor --store 's3://my-bucket/elections/nightly?region=auto&endpoint=https://s3.example.com'
  elect doctor --store gs://my-bucket/elections/nightly --json | jq -r .verdict`,
		Args: cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := env.Open(cmd.Context(), url)
			if err != nil {
				return err
			}
			defer store.Close()
			return Examine(cmd.Context(), env, store, asJSON)
		},
	}
	cliutil.StoreFlag(cmd, &url)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON")
	return cmd
}

// Examine probes a store and prints what it found. The error of a store that must not
// be used has exit code 1 and no text: the verdict was printed.
func Examine(ctx context.Context, env *cliutil.Env, store *stores.Store, asJSON bool) error {
	prober, ok := store.Decider.(core.Prober)
	if !ok {
		return cliutil.Usage("doctor: %s cannot be probed: nothing of it outlives this process", store.URL)
	}
	if !asJSON {
		fmt.Fprintf(env.Stdout, "%s\nprobing, on scratch records beside it ...\n\n", store.URL)
	}
	report, err := prober.Probe(ctx)
	if err != nil {
		return fmt.Errorf("doctor: %s: %w", store.URL, err)
	}
	honest(&report)
	if report.DatedAnswers > 0 { // the prober has measured by the system's clock
		ahead := hostclock.Ahead(env.HostClock())
		report.ClockAheadMin, report.ClockAheadMax = report.ClockAheadMin+ahead, report.ClockAheadMax+ahead
	}
	f := finding{Store: store.URL, Verdict: verdict(report), ProbeReport: report}
	f.ClockWarning = f.clockWarning()
	f.Election = election(ctx, env, store)
	if asJSON {
		err = cliutil.WriteJSON(env.Stdout, f)
	} else {
		_, err = fmt.Fprint(env.Stdout, f.text())
	}
	if err == nil && !report.Usable {
		err = &cliutil.ExitError{Code: no(ctx, env, store.Decider, report)}
	}
	return err
}

// election is what status says of the election itself, or nil if it cannot be read.
func election(ctx context.Context, env *cliutil.Env, store *stores.Store) *statuscmd.State {
	seen, err := statuscmd.Look(ctx, env.HostClock(), store.Decider, statuscmd.DefaultTimeout)
	if err != nil {
		return nil
	}
	st := statuscmd.Describe(store.URL, seen)
	return &st
}

// no is the exit code of a store that cannot be used: ExitBroken where it cannot
// even be read, because it does not exist or the credentials are no good for it. The
// election's own record tells that as an error that a program can judge.
func no(ctx context.Context, env *cliutil.Env, d core.RaceDecider, report core.ProbeReport) int {
	if !refused(report, probe.CheckRead) {
		return cliutil.ExitFailed
	}
	if _, err := statuscmd.Look(ctx, env.HostClock(), d, statuscmd.DefaultTimeout); errors.Is(err, core.ErrBroken) {
		return cliutil.ExitBroken
	}
	return cliutil.ExitFailed
}

func refused(report core.ProbeReport, check string) bool {
	return slices.ContainsFunc(report.Checks, func(c core.ProbeCheck) bool { return c.Name == check && mark(c) == "NO" })
}

// honest takes back that scratch records can be deleted where none was ever written:
// stores say yes to the removal of what is not there.
func honest(report *core.ProbeReport) {
	written := slices.ContainsFunc(report.Checks, func(c core.ProbeCheck) bool { return c.Name == probe.CheckCreate && c.Passed })
	for i, c := range report.Checks {
		if c.Name == probe.CheckDelete && c.Passed && !written {
			report.Checks[i] = core.ProbeCheck{Name: c.Name, Optional: c.Optional, Inconclusive: true, Detail: "not tried, because nothing was written"}
		}
	}
}
