package demo

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// programVar makes this test binary be elect: what the tests run in processes of
// their own, workers included, is what was built with them, race detector and all.
const programVar = "ELECT_DEMO_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVar) == "" {
		os.Exit(m.Run())
	}
	root := &cobra.Command{Use: "elect", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(New(&cliutil.Env{Stdout: os.Stdout, Stderr: os.Stderr, Stores: new(stores.Opener), Executable: os.Args[0]}))
	err := root.ExecuteContext(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "elect:", cliutil.Message(err))
	}
	os.Exit(cliutil.CodeOf(err))
}
