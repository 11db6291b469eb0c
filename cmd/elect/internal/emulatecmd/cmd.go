// Package emulatecmd is `elect emulate`: Cloud Storage, S3 and DynamoDB on this
// machine, to try elections on.
package emulatecmd

import (
	"context"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

const long = `emulate runs emulators of Cloud Storage, Amazon S3 and Amazon DynamoDB on a loopback
address, until Ctrl-C or SIGTERM. It prints what to set so that elect, and the
client libraries of Google and Amazon, use them in place of the services. They
check no credentials, they limit nothing, and what they hold is gone in the end.

--addr is where the first of them listens; the others follow on the next ports, in
the order gcs, s3, dynamodb. Without a port every one chooses a free one.

The S3 emulator knows path-style addresses only. elect uses them with every
endpoint that is not Amazon's; other programs have to be told (UsePathStyle,
addressing_style = path).

--json prints one line when they are ready, without the fields of those that were
not started: storage_emulator_host, url (of Cloud Storage), aws_endpoint_url_s3,
s3_path_style, aws_endpoint_url_dynamodb, aws_access_key_id, aws_secret_access_key,
aws_region, buckets, tables.

Exit codes: 0 when it is ended by a signal; 64 the command line is wrong; 70 they
could not be started, because a port is somebody else's already, most likely.`

// options are the command line.
type options struct {
	addr    string
	only    []string
	buckets []string
	tables  []string
	asJSON  bool
}

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "emulate",
		Short: "Run emulators of Cloud Storage, S3 and DynamoDB on this machine",
		Long:  long,
		Example: `  elect emulate --addr 127.0.0.1:9199 | tee emulators.env
  elect emulate --only s3,dynamodb --bucket jobs --table jobs

  . ./emulators.env        # in another terminal
  elect run --store gs://elections/nightly -- ./work
  elect run --store s3://elections/nightly -- ./work
  elect run --store dynamodb://elections/nightly -- ./work`,
		Args: cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd.Flags().Changed); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return run(ctx, env, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.addr, "addr", "127.0.0.1:0", "loopback address to listen on; port 0 chooses free ones")
	f.StringSliceVar(&o.only, "only", slices.Clone(kinds), "which of them to run")
	f.StringArrayVar(&o.buckets, "bucket", []string{"elections"}, "a bucket to create, in Cloud Storage and in S3; may be repeated")
	f.StringArrayVar(&o.tables, "table", []string{"elections"}, "a table to create, in DynamoDB; may be repeated")
	f.BoolVar(&o.asJSON, "json", false, "print one line of JSON")
	return cmd
}

// The emulators, in the order of their ports.
const (
	kindGCS      = "gcs"
	kindS3       = "s3"
	kindDynamoDB = "dynamodb"
)

var kinds = []string{kindGCS, kindS3, kindDynamoDB}

// validate refuses what cannot be started, and puts the lists in order.
func (o *options) validate(given func(flag string) bool) error {
	for _, k := range o.only {
		if !slices.Contains(kinds, k) {
			return cliutil.Usage("--only %.40q is no emulator: write some of %s", k, strings.Join(kinds, ","))
		}
	}
	switch {
	case o.addr == "":
		return cliutil.Usage("--addr is empty: give a loopback address, like 127.0.0.1:9199")
	case len(o.only) == 0:
		return cliutil.Usage("--only names nothing: write some of %s", strings.Join(kinds, ","))
	case given("bucket") && !o.wants(kindGCS) && !o.wants(kindS3):
		return cliutil.Usage("--bucket needs gcs or s3 in --only: DynamoDB has tables (--table)")
	case given("table") && !o.wants(kindDynamoDB):
		return cliutil.Usage("--table needs dynamodb in --only: the others have buckets (--bucket)")
	}
	o.buckets, o.tables = sorted(o.buckets), sorted(o.tables)
	for _, b := range o.buckets {
		// What both services take.
		if loc, err := stores.Parse("gs://" + b + "/x"); err != nil || loc.Bucket != b {
			return cliutil.Usage("--bucket %.80q cannot be a bucket's name: use 3 or more lower case letters, digits, dashes, underscores and dots", b)
		}
	}
	for _, t := range o.tables {
		if loc, err := stores.Parse("dynamodb://" + t + "/x"); err != nil || loc.Table != t {
			return cliutil.Usage("--table %.80q cannot be a table's name: use 3 to 255 letters, digits, dashes, underscores and dots", t)
		}
	}
	return nil
}

func (o *options) wants(kind string) bool { return slices.Contains(o.only, kind) }

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// run starts the emulators, says so, and ends them when ctx ends.
func run(ctx context.Context, env *cliutil.Env, o options) error {
	s, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	if o.asJSON {
		err = cliutil.WriteJSON(env.Stdout, s.ready)
	} else {
		_, err = fmt.Fprint(env.Stdout, s.ready.text())
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
