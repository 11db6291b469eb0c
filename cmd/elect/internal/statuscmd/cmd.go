// Package statuscmd is `elect status`: one look at an election. What it sees and
// how it says so serves the other commands that look at one as well.
package statuscmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
)

// ExitBadEntry is the exit code when what is stored is no entry.
const ExitBadEntry = cliutil.ExitBadEntry

// DefaultTimeout bounds one read.
const DefaultTimeout = 10 * time.Second

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var url string
	var asJSON bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "status --store URL",
		Short: "Show who leads, with which fencing token, and for how long",
		Long: `status reads the entry of an election once, and changes nothing.

The time left is judged by the store's own clock where the answer tells it, so that
it is right even if this host's clock is hours off; else by the clocks of the writer
and of this host. It says which, and warns of a clock that is wrong, and by how much.
The fencing token and the version are what elect break asks for. An entry that another
library wrote has no fencing token and does not tell its writer's clock, and says so.

--json prints one line with these fields; those that do not apply are left out:
  store, state (leading, expired, held, vacant, absent or bad), leader_id,
  host_port, foreign (the library that wrote the entry in a form of its own),
  fencing_token, election_number, version, term_ms, term_expiry,
  sent_by, written_at, time_left_ms (negative: over), time_left_by (store;
  writer: its clock seen from the store's; local: its clock and this host's),
  store_time, clock_offset_ms (local minus store, as far as proved), local_clock
  (agrees, ahead, behind, or unknown: the store told no time),
  writer_clock_ahead_ms (of the store's, as far as proved), clock_warning,
  checkpoint or checkpoint_base64, error, newer (true: a newer program wrote the
  entry), warning (what an operator should know about an entry that can be read)

Exit codes: 0 whoever leads, or nobody; 64 the command line is wrong; 65 what is
stored is not an entry; 69 the store could not be asked; 78 the set-up is wrong.`,
		Example: `  elect status --store gs://my-bucket/elections/nightly
  elect status --store gs://my-bucket/elections/nightly --json | jq -r .leader_id`,
		Args: cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return cliutil.Usage("--timeout is %v: give a positive duration, like 10s", timeout)
			}
			store, err := env.Open(cmd.Context(), url)
			if err != nil {
				return err
			}
			defer store.Close()
			seen, err := Look(cmd.Context(), env.HostClock(), store.Decider, timeout)
			if err != nil {
				return fmt.Errorf("status: %w", err)
			}
			state := Describe(store.URL, seen)
			if err := state.print(env, asJSON); err != nil {
				return err
			}
			if seen.Bad != nil {
				return cliutil.Exit(ExitBadEntry, "%w", BadAdvice(state))
			}
			return nil
		},
	}
	cliutil.StoreFlag(cmd, &url)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON")
	cmd.Flags().DurationVar(&timeout, "timeout", DefaultTimeout, "how long the store may take")
	return cmd
}

func (s State) print(env *cliutil.Env, asJSON bool) error {
	if asJSON {
		return cliutil.WriteJSON(env.Stdout, s)
	}
	_, err := fmt.Fprint(env.Stdout, s.Text())
	return err
}
