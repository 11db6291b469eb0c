package verify

import (
	"cmp"
	"fmt"
	"slices"
)

// Problem is one thing to repair.
type Problem struct {
	File    string // relative to the root of the tree, with slashes
	Line    int    // counted from 1
	Message string // what is wrong and what to do
}

// String returns the problem the way compilers print theirs, so that editors
// can jump to it.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Check is one property of the whole tree.
type Check struct {
	Name string
	Why  string
	// Run examines the tree below root. An error means that the check could not
	// be made, which is no better than a problem.
	Run func(root string) ([]Problem, error)
}

// Checks returns all checks, in the order in which they are run.
func Checks() []Check {
	return []Check{
		{"imports", "each part of the tree imports only what the table in layers.go allows", Imports},
		{"packagedoc", "each package has one package comment, in one file", PackageComments},
		{"links", "relative links and anchors in Markdown files lead somewhere", Links},
		{"examples", "Go code in Markdown files is the body of a tested example", Examples},
		{"tests", "the tests that README.md and docs name are there", Tests},
		{"forbidden", "nothing in the tree breaks the rules in forbidden.go", Forbidden},
	}
}

// sorted orders problems by place, so that two runs print the same.
func sorted(ps []Problem) []Problem {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return ps
}
