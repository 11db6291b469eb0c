package verify

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Forbidden checks that nothing in the tree is of a kind that compiles and does
// harm all the same: clocks that tests cannot move, decisions hidden in library
// code, and what the machine of whoever wrote a file left behind in it.
func Forbidden(root string) ([]Problem, error) {
	var problems []Problem
	err := TextFiles(root, func(name string, text []byte) error {
		for i, line := range bytes.Split(text, []byte("\n")) {
			for _, r := range textRules() {
				if r.pattern.Match(line) {
					problems = append(problems, Problem{name, i + 1, r.message})
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		found, err := misuses(root, name)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return sorted(problems), nil
}

// textRule forbids a pattern in the lines of every text file.
type textRule struct {
	pattern *regexp.Regexp
	message string
}

var (
	// A folder that exists on the author's machine: not one in a URL, which has a
	// host name before it. The patterns are written so that they do not match themselves.
	machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.~/})$-])(/(work|root)/[A-Za-z0-9_.]|/(home|Users)/[A-Za-z]|[A-Z]:\\Users\\)`)
	conflict    = regexp.MustCompile(`^([<]{7}|[>]{7}) `)
)

func textRules() []textRule {
	return []textRule{
		{machinePath, "path of somebody's machine: write it relative to the repository, or as a placeholder"},
		{conflict, "conflict marker: finish the merge"},
	}
}

// useRule forbids functions of the standard library in some of the non-test code.
type useRule struct {
	applies func(file goFile) bool
	uses    map[string][]string // import path -> names
	message string
}

func useRules() []useRule {
	return []useRule{
		{
			applies: func(f goFile) bool { return under(f.name, "core") && !standsForTheWorld(f.name) },
			uses: map[string][]string{
				"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
				"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
			},
			message: "core asks Config.Clock and never the machine's, or a test could not move time",
		},
		{
			applies: func(f goFile) bool { top, _, _ := strings.Cut(f.name, "/"); return isDecider(top) },
			uses:    map[string][]string{"time": {"Now", "Since", "Until"}},
			message: "deciders read no clock: time comes from the store's answers",
		},
		{
			applies: func(f goFile) bool { return f.pkg != "main" },
			uses: map[string][]string{
				"os":  {"Exit"},
				"log": {"Fatal", "Fatalf", "Fatalln"},
				"flag": {"Parse", "Bool", "BoolVar", "BoolFunc", "Duration", "DurationVar", "Float64", "Float64Var", "Func",
					"Int", "IntVar", "Int64", "Int64Var", "String", "StringVar", "TextVar", "Uint", "UintVar", "Uint64", "Uint64Var", "Var"},
			},
			message: "only a main package ends the process or defines flags of the whole program: return an error, take an argument",
		},
	}
}

// standsForTheWorld reports whether a file of core is a clock or a store or drives
// tests, and so may use the machine's time.
func standsForTheWorld(name string) bool {
	return slices.ContainsFunc([]string{"core/skewclock", "core/memory", "core/decidertest", "core/internal"},
		func(dir string) bool { return under(name, dir) })
}
