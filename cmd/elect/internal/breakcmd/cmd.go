// Package breakcmd is `elect break`: an operator ends a reign, or replaces what
// nobody can read. It writes an entry over what is stored, on the condition that
// it is what the operator has seen; it never deletes one.
package breakcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/core/entry"
)

// ExitChanged is the exit code when what is stored is not what the command line
// says, and nothing was written.
const ExitChanged = cliutil.ExitFailed

const long = `break ends the reign with the fencing token that elect status printed, whoever
leads. It writes an entry of its own over the leader's, with the same term and
the next fencing token: the leader finds out at its next renewal, at the latest
when its term ends, and only then can the next one come. The checkpoint stays.

--now writes a vacant entry instead: the next leader comes at once. The old one,
if it still runs, goes on leading until its next renewal fails or its term ends:
for so long there may be TWO LEADERS. Use it only when the old leader is
certainly dead, or when everything it writes to checks fencing tokens.

--corrupt --version V replaces what elect status calls bad: what is not an entry.
Look at it first, its content is overwritten. The new fencing token is higher than the store's
time in seconds since 1970, where all tokens of a new election begin, and than
--fencing-token if that is given; where the store tells no time you have to give
one that is higher than any that was ever handed out. The length of the old term
cannot be read: --term says how long to keep the election closed for its sake.

--version V without --fencing-token ends the reign of an entry that vimeo/leaderelection
wrote (status says so): it has no fencing token. JSON is written, which candidates of that
library cannot read. The entry does not tell the term of its leader: --term says how long
to keep the election closed, the longest term that candidates of that library use here. If
more than a minute is left of the entry's, you have to give it. The new fencing token
is found as with --corrupt.

An entry of a newer program is not corrupt: update this program. --force-newer
replaces it nevertheless. That ends a reign whose term and fencing token this program
cannot read: there may be TWO LEADERS if its term is longer than --term, and the new
fencing token may be lower than the old one if you do not give that one, so that
what checks tokens refuses all leaders to come. What else the newer program keeps in
the entry is lost.

Nothing is written if what is stored is not what you name: another fencing token,
another version, nobody leads, or there is nothing.

--json prints one line: store, action (ended, vacated or replaced),
previous_leader_id, previous_fencing_token, previous_foreign (the library that wrote
it in a form of its own, without a fencing token), previous_version, leader_id,
previous_held (true: that reign was done, and kept the election closed),
fencing_token, election_number, version, next_leader_in_ms and next_leader_at (the
next leader does not come sooner).

Exit codes: 0 written; 1 refused, what is stored is something else; 64 the command
line is wrong; 65 what is stored is not an entry; 69 the store could not be asked,
or its answer was lost for good: look with elect status; 78 the set-up is wrong.`

// options are the command line.
type options struct {
	url     string
	token   int64
	version string
	term    time.Duration
	timeout time.Duration
	now     bool
	corrupt bool
	newer   bool
	asJSON  bool

	tokenGiven, termGiven bool
}

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "break --store URL {--fencing-token N | --version V}",
		Short: "End a reign as an operator, or replace an unreadable entry",
		Long:  long,
		Example: `  elect break --store gs://my-bucket/elections/nightly --fencing-token 1785456001
  elect break --store gs://my-bucket/elections/nightly --corrupt --version 1785456001123456
  elect break --store gs://my-bucket/elections/nightly --version 1785456001123456 --term 15s
  elect break --store s3://my-bucket/elections/nightly --corrupt --version '"9a0364b9e99bb480dd25e1f0284c8555"'`,
		Args: cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.tokenGiven = cmd.Flags().Changed("fencing-token")
			o.termGiven = cmd.Flags().Changed("term")
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(cmd.Context(), env)
		},
	}
	cliutil.StoreFlag(cmd, &o.url)
	f := cmd.Flags()
	f.Int64Var(&o.token, "fencing-token", 0, "the fencing token of the reign to end, as elect status prints it")
	f.BoolVar(&o.now, "now", false, "let the next leader come at once: risks two leaders, see above")
	f.BoolVar(&o.corrupt, "corrupt", false, "replace what is not an entry; needs --version")
	f.BoolVar(&o.newer, "force-newer", false, "with --corrupt: replace even an entry of a newer program, see above")
	f.StringVar(&o.version, "version", "", "the version to overwrite, as elect status prints it; no other")
	f.DurationVar(&o.term, "term", statuscmd.DefaultForeignTerm, "with --corrupt, and for an entry of vimeo/leaderelection: the longest term that anybody uses for this election")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "how long it may take altogether")
	f.BoolVar(&o.asJSON, "json", false, "print one line of JSON")
	return cmd
}

// validate refuses command lines that contradict themselves.
func (o *options) validate() error {
	switch {
	case o.corrupt && o.version == "":
		return cliutil.Usage("--corrupt needs --version: give the version that elect status prints")
	case !o.corrupt && !o.tokenGiven && o.version == "":
		return cliutil.Usage("--fencing-token is missing: give the one that elect status prints, so that no other reign is ended (--version for an entry that has none)")
	case o.tokenGiven && (o.token < 0 || o.token >= maxToken):
		return cliutil.Usage("--fencing-token %d is out of range: give the one that elect status prints", o.token)
	case o.newer && !o.corrupt:
		return cliutil.Usage("--force-newer is for --corrupt only: it replaces an entry that this program cannot read")
	case o.termGiven && !o.corrupt && o.version == "":
		return cliutil.Usage("--term is for --corrupt, and for an entry of another library with its --version: any other says how long its term is")
	case o.termGiven && o.now:
		return cliutil.Usage("--term and --now contradict each other: with --now nobody waits")
	case o.term <= 0 || o.term > entry.MaxTermLength:
		return cliutil.Usage("--term %v is out of range: give the longest term that anybody uses here, like 15s", o.term)
	case o.timeout <= 0:
		return cliutil.Usage("--timeout is %v: give a positive duration, like 30s", o.timeout)
	}
	return nil
}

func (o *options) run(ctx context.Context, env *cliutil.Env) error {
	store, err := env.Open(ctx, o.url)
	if err != nil {
		return err
	}
	defer store.Close()
	if o.version != "" {
		if _, err := store.TokenFor(o.version); err != nil && !errors.Is(err, errNoVersions) {
			return cliutil.Usage("--version: %w", err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done within %v", o.timeout))
	defer cancel()
	b := breaker{options: *o, store: store.URL, decider: store.Decider, clock: env.HostClock(), who: operator()}
	done, err := b.run(ctx)
	if err != nil {
		return err
	}
	if o.asJSON {
		return cliutil.WriteJSON(env.Stdout, done)
	}
	_, err = fmt.Fprint(env.Stdout, done.text())
	return err
}
