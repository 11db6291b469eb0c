package core_test

import (
	"testing"

	"github.com/cloudelect/cloudelect/internal/verify"
)

// TestImports keeps the layers of the whole repository apart, core's first of all:
// whoever imports core gets the standard library and go-clocks with it, and no SDK.
// The table, with the reasons, is internal/verify/layers.go.
func TestImports(t *testing.T) {
	root, err := verify.Root(".")
	if err != nil {
		t.Fatal(err)
	}
	problems, err := verify.Imports(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}
