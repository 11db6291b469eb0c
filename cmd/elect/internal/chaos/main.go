package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"
)

// Main is the program: args are its arguments without its name, self is its own path. It
// returns the exit code: 1 if something is wrong, 130 if it was interrupted, 64 if the
// arguments have to be changed.
func Main(args []string, self string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == workerCommand {
		return Worker(args[1:], stderr)
	}
	var o Options
	var elect string
	var asJSON bool
	var plan int
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&elect, "elect", "bin/elect-chaos", "the program under test, built with -tags chaos")
	f.DurationVar(&o.For, "for", 20*time.Minute, "how long things happen")
	f.Uint64Var(&o.Seed, "seed", uint64(time.Now().Unix()), "what happens")
	f.IntVar(&o.Elections, "elections", 11, "how many, dealt to the three stores in turns")
	f.IntVar(&o.Candidates, "candidates", 3, "how many for each election")
	f.DurationVar(&o.Term, "term", 2*time.Second, "the length of a term")
	f.StringVar(&o.Keep, "keep", "", "keep what happened, and what the processes said, in this folder")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON, on one line")
	f.IntVar(&plan, "plan", 0, "print this many steps of each election, and do nothing")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 64
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "chaos: unknown argument %q: everything is a flag, see chaos -help\n", f.Arg(0))
		return 64
	}
	if plan > 0 {
		if err := (Plan{o.Seed, o.Elections, o.Term}).Print(stdout, plan); err != nil {
			return 1
		}
		return 0
	}
	o.Elect, o.Worker = []string{elect}, []string{self, workerCommand}
	o.Goals, o.Progress = UsualGoals(o.For), stderr
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	fmt.Fprintf(stderr, "chaos: %d elections of %d candidates for %v, -seed %d\n", o.Elections, o.Candidates, o.For, o.Seed)
	r, err := Run(ctx, o)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if asJSON {
		err = json.NewEncoder(stdout).Encode(r)
		fmt.Fprintln(stderr, r.verdict())
	} else {
		err = r.Print(stdout)
		fmt.Fprintln(stdout, r.verdict())
	}
	switch {
	case err != nil || len(r.Violations) > 0:
		return 1
	case r.Interrupted:
		return 130
	}
	return 0
}

const workerCommand = "worker"
