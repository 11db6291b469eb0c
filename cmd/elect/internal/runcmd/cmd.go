// Package runcmd is `elect run`: it campaigns, runs COMMAND while it leads, and
// resigns when COMMAND and everything in its process group is gone.
//
// Three processes take part: elect campaigns and renews; the guard (package guard)
// owns COMMAND's process group and kills it when the term comes to its end,
// whatever has become of elect; COMMAND does the work.
package runcmd

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
)

// options are the flags of `elect run`.
type options struct {
	store   string
	id      string
	term    time.Duration
	once    bool
	wait    time.Duration
	minHold time.Duration
	poll    time.Duration
	renew   time.Duration
	grace   time.Duration
	verbose bool
}

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "run --store URL [flags] -- COMMAND [ARGS]",
		Short: "Run a command on one worker at a time",
		Long:  long + "\n\n" + cliutil.ExitCodes,
		Example: `  elect run --store gs://my-bucket/elections/nightly -- ./work --all
  elect run --store 's3://my-bucket/elections/nightly?region=eu-central-1' -- ./work
  elect run --store dynamodb://elections/nightly --once -- ./work || test $? = 75`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd, args); err != nil {
				return err
			}
			if !guard.Supported {
				return cliutil.Usage("elect run needs process groups, which this system has not: use package core in your program instead")
			}
			return run(cmd.Context(), env, o, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.SetInterspersed(false) // what follows COMMAND is COMMAND's
	cliutil.StoreFlag(cmd, &o.store)
	f.StringVar(&o.id, "id", "", "name of this candidate, which no other may have (default: host, process id and a random part)")
	f.DurationVar(&o.term, "term", 15*time.Second, "how long a reign lasts from its last renewal, and so how long the election stays closed after a crash")
	f.BoolVar(&o.once, "once", false, "try once, and exit with 75 if somebody else leads")
	f.DurationVar(&o.wait, "wait", 0, "wait this long at most to be elected, then exit with 75 (default: for ever)")
	f.DurationVar(&o.minHold, "min-hold", 0, "nobody is elected again sooner than this after a win, even if COMMAND is done earlier: for jobs that must run once per slot")
	f.DurationVar(&o.poll, "poll", 0, "how often to look while somebody else leads (default: a fifth of the term, 0.5 s to 5 s)")
	f.DurationVar(&o.renew, "renew", 0, "how often to renew while leading (default: a third of the term)")
	f.DurationVar(&o.grace, "grace", 10*time.Second, "how long COMMAND may take to end after SIGTERM; the end of the term may cut it short")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log what happens in the election to stderr")
	return cmd
}

const long = `Run COMMAND only while leading the election at --store. elect waits until it is
elected, runs COMMAND, passes on its exit status, and resigns. COMMAND finds in its environment

  ELECT_LEADER_ID      the name of this candidate
  ELECT_FENCING_TOKEN  the number of this reign: a resource that remembers the
                       highest one it saw, and refuses lower ones, is safe
                       from leaders of the past
  ELECT_STORE          the election's URL

COMMAND is stopped (SIGTERM, after --grace SIGKILL) when leadership is lost, when
elect gets SIGINT or SIGTERM (a second one kills), and before the term can end when
elect is killed, stopped (Ctrl-Z, too) or cannot renew. A small guard process sees
to that, for the whole process group of COMMAND; elect resigns when all of it is gone.

What the guard cannot reach, and only the fencing token can make harmless: processes
that left the group (setsid, daemons, jobs of an interactive shell, containers),
processes of other users (sudo), elect and its guard both stopped or both killed.

SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH are passed on. COMMAND gets the terminal
when it first reads from it; from then on Ctrl-C reaches COMMAND and not elect.`

// validate finds what can be found out about the flags without a store.
func (o *options) validate(cmd *cobra.Command, args []string) error {
	for _, d := range []struct {
		flag  string
		value time.Duration
		zero  bool // is the documented default, which may also be written
	}{
		{"term", o.term, false}, {"wait", o.wait, false}, {"min-hold", o.minHold, true},
		{"poll", o.poll, false}, {"renew", o.renew, false}, {"grace", o.grace, true},
	} {
		if d.value < 0 || d.value == 0 && !d.zero && cmd.Flags().Changed(d.flag) {
			return cliutil.Usage("--%s %v is not a duration to wait: write one like 30s or 5m", d.flag, d.value)
		}
	}
	switch {
	case o.once && o.wait != 0:
		return cliutil.Usage("--once and --wait exclude each other: --once does not wait")
	case cmd.Flags().Changed("id") && strings.TrimSpace(o.id) == "":
		return cliutil.Usage("--id is empty: give every candidate a name of its own, or leave the flag out")
	case strings.ContainsFunc(o.id, cliutil.Steers):
		return cliutil.Usage("--id %s has control characters in it: give a name that fits on one line", cliutil.Name(o.id))
	case o.poll > 0 && o.poll < minPoll:
		return cliutil.Usage("--poll %v is too short, every look is a paid request: give %v or more", o.poll, minPoll)
	case len(args) == 0 || args[0] == "":
		return cliutil.Usage("there is no COMMAND: write it after the flags, elect run --store URL -- COMMAND ARGS")
	case o.store == "":
		return cliutil.Usage("--store is missing: say where the election is kept, %s", stores.Usage)
	}
	return nil
}

// minPoll keeps a typing error from costing money.
const minPoll = 100 * time.Millisecond

// fits finds out whether a term leaves room for two renewals, at the store's pace. Of
// settings that were typed core says more.
func (o *options) fits(d core.RaceDecider) error {
	l, ok := d.(core.WriteLimiter)
	if !ok || o.renew != 0 || o.term >= 2*l.MinWriteInterval() {
		return nil
	}
	return cliutil.Usage("--term must be at least %v for this store, which takes a write every %v, and is %v: make it longer",
		2*l.MinWriteInterval(), l.MinWriteInterval(), o.term)
}

// flagNames turns the names of core's settings into those that were typed.
func flagNames(message string) string {
	return strings.NewReplacer(
		"core: invalid configuration: ", "",
		"LeaderID", "--id", "TermLength", "--term", "PollInterval", "--poll",
		"RenewInterval", "--renew", "MinHold", "--min-hold", "WaitAtMost", "--wait",
		"MaxClockSkew", "the clock skew",
	).Replace(message)
}

// environment is what COMMAND finds in addition to elect's own.
func environment(id, token, store string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ELECT_LEADER_ID=") && !strings.HasPrefix(kv, "ELECT_FENCING_TOKEN=") &&
			!strings.HasPrefix(kv, "ELECT_STORE=") {
			env = append(env, kv)
		}
	}
	return append(env, "ELECT_LEADER_ID="+id, "ELECT_FENCING_TOKEN="+token, "ELECT_STORE="+store)
}
