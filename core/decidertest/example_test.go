package decidertest_test

import (
	"fmt"

	"github.com/cloudelect/cloudelect/core/decidertest"
)

// The suite can be listed, for a page that says what a decider has to do.
func ExampleCases() {
	for _, c := range decidertest.Cases()[:2] {
		fmt.Printf("%s: %s\n", c.Name, c.Why)
	}
	// Output:
	// absent-reads-as-no-elections: a candidate that finds nothing must know that it found nothing, and be able to create the first entry
	// read-your-write-through-another-handle: a read that is older than a confirmed write elects a second leader
}
