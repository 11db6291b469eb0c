// Package initcmd is `elect init`: it creates what an election needs before
// anybody can campaign, as far as that is elect's to create.
package initcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
)

const long = `init creates the DynamoDB table of an election, and waits until it can be used. It
is fine if the table exists; one with another key is left alone. The table's only
key is the string "election", it is billed on demand, and any number of
elections share it. Tags, encryption, deletion protection and point-in-time
recovery are yours to set. init needs dynamodb:DescribeTable, and
dynamodb:CreateTable if there is no table yet.

Buckets are yours to create: elect does not choose their location, who may read
them, or what they cost. For gs:// and s3:// init creates nothing; it reads the election
once to see that the bucket is there, and says what elections need of it.

--json prints one line: store, ready (true), table (dynamodb).

Exit codes: 0 elections can be kept there; 64 the command line is wrong; 69 the store
could not be asked, or the table was not ready in time: try again; 78 the set-up is
wrong: credentials, permission, no such bucket, a table with another key.`

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var url string
	var asJSON bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "init --store URL",
		Short: "Create the table of an election, or see that its bucket is there",
		Long:  long,
		Example: `  elect init --store 'dynamodb://elections/nightly?region=eu-central-1'
  elect init --store s3://my-bucket/elections/nightly`,
		Args: cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return cliutil.Usage("--timeout is %v: give a positive duration, like 5m", timeout)
			}
			store, err := env.Open(cmd.Context(), url)
			if err != nil {
				return err
			}
			defer store.Close()
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("not done within %v", timeout))
			defer cancel()
			return run(ctx, env, store, asJSON)
		},
	}
	cliutil.StoreFlag(cmd, &url)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one line of JSON")
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Minute, "how long it may take")
	return cmd
}

// done is what --json prints.
type done struct {
	Store string `json:"store"`
	Ready bool   `json:"ready"`
	Table string `json:"table,omitempty"`
}

func run(ctx context.Context, env *cliutil.Env, store *stores.Store, asJSON bool) error {
	loc := store.Location
	if loc.Scheme == stores.SchemeMemory {
		return cliutil.Usage("init: %s needs nothing, and nothing of it outlives this process", store.URL)
	}
	err := store.Prepare(ctx)
	if errors.Is(err, stores.ErrNothingToPrepare) {
		err = look(ctx, env, store)
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if asJSON {
		return cliutil.WriteJSON(env.Stdout, done{store.URL, true, loc.Table})
	}
	text := fmt.Sprintf("%s\n  the table %s in region %s is ready for elections\n", store.URL, loc.Table, loc.Region)
	if loc.Table == "" {
		text = fmt.Sprintf("%s\n  the bucket %s is there; nothing was created\n%s", store.URL, loc.Bucket, needs(loc.Scheme))
	}
	_, err = fmt.Fprintf(env.Stdout, "%s  see whether it can carry an election: elect doctor --store %s\n", text, cliutil.ShellWord(store.URL))
	return err
}

// look reads an election to find out whether its bucket is there. What is stored
// is of no interest.
func look(ctx context.Context, env *cliutil.Env, store *stores.Store) error {
	_, err := statuscmd.Look(ctx, env.HostClock(), store.Decider, statuscmd.DefaultTimeout)
	if errors.Is(err, core.ErrBroken) {
		return fmt.Errorf("%w (init creates no buckets: %s)", err, howTo(store.Location))
	}
	return err
}
