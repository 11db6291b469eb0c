// Command chaos runs real processes of elect on a very bad day: see package chaos. It
// is started by make chaos.
package main

import (
	"fmt"
	"os"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/chaos"
)

func main() {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(os.Stderr, "chaos: cannot find its own program file: %v: start it by its full path\n", err)
		os.Exit(1)
	}
	os.Exit(chaos.Main(os.Args[1:], self, os.Stdout, os.Stderr))
}
