// Command rename gives this module another path, for whoever publishes it
// elsewhere: in go.mod, in every import, and wherever a text names it.
//
//	go run ./internal/verify/rename example.com/elections
package main

import (
	"fmt"
	"os"

	"github.com/cloudelect/cloudelect/internal/verify"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "rename: say the new module path, once: make rename MODULE=example.com/elections")
		os.Exit(2)
	}
	root, err := verify.Root(".")
	if err == nil {
		err = rename(root, os.Args[1], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
