// Package cli is the command line of elect: it puts the commands together, runs
// one, and prints its error.
package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/breakcmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/demo"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/doctorcmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/emulatecmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/hostclock"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/initcmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/runcmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/watchcmd"
)

// Main runs the command that args (without the program's name) ask for, and
// returns the exit code. An error is printed to env.Stderr on one line.
func Main(ctx context.Context, args []string, env *cliutil.Env) int {
	if guard.Asked(args) {
		return guard.Main(args, env.Stderr)
	}
	err := execute(ctx, args, env)
	if line := cliutil.Message(err); line != "" {
		fmt.Fprintf(env.Stderr, "elect: %s\n", line)
	}
	return cliutil.CodeOf(err)
}

func execute(ctx context.Context, args []string, env *cliutil.Env) error {
	if env.Clock == nil {
		clock, err := hostclock.New()
		if err != nil {
			return cliutil.Usage("%w", err)
		}
		with := *env
		with.Clock = clock
		env = &with
	}
	root := New(env)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// New returns elect's command tree.
func New(env *cliutil.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "elect",
		Short: "Leader election through one object in a bucket, or one item in a table",
		Long: `elect chooses one leader among workers that share nothing but an object in
Cloud Storage or S3, or an item in DynamoDB. Nothing else has to run.

--store names the election:
  gs://BUCKET/OBJECT
  s3://BUCKET/KEY?region=REGION&endpoint=https://HOST&path-style=true
  dynamodb://TABLE/ELECTION?region=REGION&endpoint=https://HOST
The options of s3:// and dynamodb:// can be left out; quote them in a shell. Credentials,
and the region, come from where gcloud's and aws's come from.`,
		Example: `  elect run --store gs://my-bucket/elections/nightly -- ./work --all
  elect status --store s3://my-bucket/elections/nightly
  elect init --store 'dynamodb://elections/nightly?region=eu-central-1'`,
		// Errors are printed by Main, on one line.
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cliutil.Usage("there is no command %.40q: see elect --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		hint := ""
		if strings.Contains(err.Error(), "time: ") {
			hint = " (write a duration like 30s or 5m)"
		}
		return cliutil.Usage("%w%s: see %s --help", err, hint, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		runcmd.New(env),
		statuscmd.New(env),
		watchcmd.New(env),
		breakcmd.New(env),
		initcmd.New(env),
		doctorcmd.New(env),
		emulatecmd.New(env),
		demo.New(env),
	)
	return root
}
