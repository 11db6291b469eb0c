// Command cmd runs the checks of package verify on this repository and prints what
// they find as file:line: message. It exits with 1 when there is anything to repair.
//
//	go run ./internal/verify/cmd            all checks
//	go run ./internal/verify/cmd links      those that are named
package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cloudelect/cloudelect/internal/verify"
)

func main() {
	os.Exit(run(".", os.Args[1:], os.Stdout, os.Stderr))
}

// run makes the named checks, or all, on the module around dir and returns the exit code.
func run(dir string, names []string, stdout, stderr io.Writer) int {
	root, err := verify.Root(dir)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	checks, err := choose(names)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	code := 0
	for _, c := range checks {
		problems, err := c.Run(root)
		for _, p := range problems {
			fmt.Fprintln(stdout, p)
		}
		if err != nil {
			fmt.Fprintln(stderr, err)
		}
		if err != nil || len(problems) > 0 {
			fmt.Fprintf(stderr, "%s: failed (%s)\n", c.Name, c.Why)
			code = 1
		}
	}
	return code
}

func choose(names []string) ([]verify.Check, error) {
	all := verify.Checks()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []verify.Check
	for _, name := range names {
		i := slices.IndexFunc(all, func(c verify.Check) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("verify: there is no check %q; there are imports, packagedoc, links, examples, tests and forbidden", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
