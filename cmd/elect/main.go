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
	os.Exit(run(os.Args[1:], &cliutil.Env{
		Stdout: os.Stdout, Stderr: os.Stderr, Stores: new(stores.Opener), Executable: exe,
	}))
}

// run runs the command that args ask for, and returns the exit code.
func run(args []string, env *cliutil.Env) int {
	switch {
	case len(args) == 1 && args[0] == "--version":
		fmt.Fprintf(env.Stdout, "elect %s\n", cliutil.Version())
		return cliutil.ExitOK
	case len(args) > 1 && args[0] == "help" && !isCommand(args[1:], env):
		fmt.Fprintf(env.Stderr, "elect: there is no command %.40q: see elect --help\n", args[1])
		return cliutil.ExitUsage
	}
	return cli.Main(context.Background(), args, env)
}

// isCommand tells whether there is help on what these words, or flags, begin with.
func isCommand(words []string, env *cliutil.Env) bool {
	root := cli.New(env)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(words...)
	cmd, _, err := root.Find(words)
	return err == nil && cmd != root || words[0] == "" || words[0][0] == '-'
}
