package verify

import (
	"strings"
	"testing"
)

func TestForbiddenCode(t *testing.T) {
	for _, tt := range []struct {
		name string
		file string
		code string
		want string // words of the message for line 3; "" if there is none
	}{
		{"core asks the machine's clock", "core/a.go", `import "time"; var t = time.Now()`, "time.Now: core asks Config.Clock"},
		{"core passes the clock on", "core/entry/a.go", `import "time"; var now = time.Now`, "time.Now"},
		{"core waits by the machine's clock", "core/a.go", `import "time"; func f() { <-time.After(1) }`, "time.After"},
		{"core bounds a context by it", "core/a.go", `import "context"; var f = context.WithTimeout`, "context.WithTimeout"},
		{"under another name", "core/a.go", `import tm "time"; func f() { tm.Sleep(1) }`, "time.Sleep"},
		{"without a name", "core/a.go", `import . "time"; func f() { Sleep(1) }`, `import . "time"`},
		{"a duration is no clock", "core/a.go", `import "time"; const d = time.Second`, ""},
		{"a variable of that name", "core/a.go", `import _ "time"; func f(time clock) { time.Now() }`, ""},
		{"a comment", "core/a.go", `import _ "time" // never time.Now()`, ""},
		{"a test", "core/a_test.go", `import "time"; var t = time.Now()`, ""},
		{"a clock may", "core/skewclock/a.go", `import "time"; var t = time.Now()`, ""},
		{"a store may", "core/memory/a.go", `import "time"; var t = time.Now()`, ""},
		{"the suite may", "core/decidertest/a.go", `import "time"; var t = time.Now()`, ""},
		{"a simulation may", "core/internal/sim/a.go", `import "time"; var t = time.Now()`, ""},
		{"a wrapper of deciders may not", "core/faultdecider/a.go", `import "time"; var t = time.Now()`, "time.Now"},
		{"a name that only begins so", "core/memoryleak/a.go", `import "time"; var t = time.Now()`, "time.Now"},
		{"a decider reads a clock", "s3decider/a.go", `import "time"; var t = time.Since`, "deciders read no clock"},
		{"a decider waits", "dynamodecider/a.go", `import "time"; var t = time.NewTimer`, ""},
		{"the tool may", "cmd/elect/a.go", `import "time"; var t = time.Now()`, ""},
		{"init", "adapters/x/a.go", `func init() {}`, "func init"},
		{"a method called init", "adapters/x/a.go", `type t int; func (t) init() {}`, ""},
		{"a library exits", "functions/x/a.go", `import "os"; func f() { os.Exit(1) }`, "os.Exit"},
		{"a library defines a flag", "functions/x/a.go", `import "flag"; var f = flag.Int("a", 1, "b")`, "flag.Int"},
		{"a library uses a flag set", "functions/x/a.go", `import "flag"; var f = flag.NewFlagSet("a", 0)`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems, err := Forbidden(tree(t, map[string]string{
				"cmd/x/main.go": "package main\n",
				tt.file:         "package p\n\n" + tt.code + "\n",
			}))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if tt.want != "" {
				want = []string{tt.file + ":3: " + tt.want}
			}
			expect(t, problems, want)
		})
	}
}

func TestMainMayExit(t *testing.T) {
	problems, err := Forbidden(tree(t, map[string]string{
		"cmd/x/main.go": "package main\n\nimport (\"flag\"; \"os\")\n\nfunc main() { flag.Parse(); os.Exit(1) }\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, problems, nil)
}

func TestForbiddenText(t *testing.T) {
	// Put together here, because this file is checked as well.
	slash, seven := "/", strings.Repeat("<", 7)
	for _, tt := range []struct {
		name, text, want string
	}{
		{"a home folder", "open " + slash + "home/ann/x", "path of somebody's machine"},
		{"on a Mac", "`" + slash + "Users/ann/x`", "path of somebody's machine"},
		{"on Windows", `C:` + `\Users\ann`, "path of somebody's machine"},
		{"root's", slash + "root/go/pkg", "path of somebody's machine"},
		{"in quotes", `"` + slash + `work/main"`, "path of somebody's machine"},
		{"relative", "./home/ann and work/main", ""},
		{"in a URL", "https://example.com/home/ann", ""},
		{"below a variable", "$HOME" + slash + "work/x and ${X}" + slash + "root/x", ""},
		{"unfinished merge", seven + " HEAD", "conflict marker"},
		{"a line under a title", "<<<<<<", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems, err := Forbidden(tree(t, map[string]string{
				"core/a.go": "package core\n",
				"docs/A.md": "first line\n" + tt.text + "\n",
			}))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if tt.want != "" {
				want = []string{"docs/A.md:2: " + tt.want}
			}
			expect(t, problems, want)
		})
	}
}
