// Command elect runs a program on one worker at a time, and shows and ends
// elections, from the command line.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cli"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

func main() {
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintf(os.Stderr, "elect: cannot find its own program file: %v: start it by its full path\n", err)
		os.Exit(cliutil.ExitInternal)
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], &cliutil.Env{
		Stdout: os.Stdout, Stderr: os.Stderr, Stores: new(stores.Opener), Executable: exe,
	}))
}
