// Package emulatecmd is `elect emulate`: Cloud Storage on this machine, to try
// elections on.
package emulatecmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var addr string
	var buckets []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "emulate",
		Short: "Run an emulator of Cloud Storage on this machine",
		Long: `emulate runs an emulator of Cloud Storage on a loopback address, until Ctrl-C or
SIGTERM. It prints what to set so that elect and Google's client libraries use
it in place of the service. It checks no credentials, it limits nothing, and what
it holds is gone when it ends.

--json prints one line when it is ready: storage_emulator_host, url, buckets.`,
		Example: `  elect emulate --addr 127.0.0.1:9199
  export STORAGE_EMULATOR_HOST=127.0.0.1:9199   # in another terminal
  elect run --store gs://elections/nightly -- ./work`,
		Args: cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return run(ctx, env, addr, buckets, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&addr, "addr", "127.0.0.1:0", "loopback address to listen on; port 0 chooses a free one")
	f.StringArrayVar(&buckets, "bucket", []string{"elections"}, "a bucket to create; may be repeated")
	f.BoolVar(&asJSON, "json", false, "print one line of JSON")
	return cmd
}

// ready is what --json prints.
type ready struct {
	Host    string   `json:"storage_emulator_host"`
	URL     string   `json:"url"`
	Buckets []string `json:"buckets"`
}

func run(ctx context.Context, env *cliutil.Env, addr string, buckets []string, asJSON bool) error {
	slices.Sort(buckets)
	buckets = slices.Compact(buckets)
	for _, b := range buckets {
		if loc, err := stores.Parse("gs://" + b + "/x"); err != nil || loc.Bucket != b {
			return cliutil.Usage("--bucket %.80q cannot be a bucket's name: use 3 or more lower case letters, digits, dashes, underscores and dots", b)
		}
	}
	if addr == "" {
		return cliutil.Usage("--addr is empty: give a loopback address, like 127.0.0.1:9199")
	}
	server, err := gcs.Start(&gcs.Options{Addr: addr, Buckets: buckets})
	var busy *net.OpError
	var wrong *net.AddrError
	switch {
	case errors.As(err, &busy) && !errors.As(err, &wrong):
		return cliutil.Exit(cliutil.ExitUnavailable, "emulate: %w: choose another port with --addr, or 0 for a free one", err)
	case err != nil:
		return cliutil.Usage("--addr: %w", err)
	}
	defer server.Close()
	host := server.Endpoint()
	if asJSON {
		err = cliutil.WriteJSON(env.Stdout, ready{Host: host, URL: server.URL(), Buckets: buckets})
	} else {
		_, err = fmt.Fprintf(env.Stdout, "# Cloud Storage emulator with %s. Ctrl-C ends it. In another terminal:\nexport STORAGE_EMULATOR_HOST=%s\n",
			list(buckets), host)
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func list(buckets []string) string {
	if len(buckets) == 1 {
		return "the bucket " + buckets[0]
	}
	return "the buckets " + strings.Join(buckets, ", ")
}
