package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What pan prints, shortened.
const complete = `
(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
	never claim         	- (none specified)
	assertion violations	+
	invalid end states	+

State-vector 92 byte, depth reached 20123, errors: 0
   232078 states, stored
  4523919 states, matched
  4755997 transitions (= stored+matched)

Stats on memory usage (in Megabytes):
   28.330	equivalent memory usage for states (stored*(State-vector + overhead))
   26.930	actual memory usage for states
  296.286	total actual memory usage

pan: elapsed time 1.76 seconds
`

const replay = `host 1 leads
tick
host 0 leads
violated: two leaders
pan:1: assertion violated 0 (at depth 36)
spin: trail ends after 36 steps
#processes 7:
`

func TestParse(t *testing.T) {
	got := parse(complete)
	want := report{finished: true, states: 232078, depth: 20123, megabytes: 296.286, seconds: 1.76}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSearchThatDidNotLookEverywhere(t *testing.T) {
	for name, out := range map[string]string{
		"depth":  "error: max search depth too small\n" + complete,
		"memory": "pan: reached -DMEMLIM bound\n" + complete,
		"broken": strings.Replace(complete, "(Spin Version", "Warning: Search not completed\n(Spin Version", 1),
		"killed": "Depth= 1000 States= 1e+06\n",
		"nobody": "",
	} {
		t.Run(name, func(t *testing.T) {
			r := result{run: run{name: name}, report: parse(out)}
			if r.surprise() == "" {
				t.Error("it passed")
			}
		})
	}
}

func TestExpectations(t *testing.T) {
	found := parse(strings.Replace(complete, "errors: 0", "errors: 1", 1))
	found.complaint = "Warning: Search not completed" // it stops at the first finding
	for _, c := range []struct {
		name  string
		finds string
		rep   report
		trail string
		good  bool
	}{
		{"holds", "", parse(complete), "", true},
		{"holds no more", "", found, replay, false},
		{"mutant refuted", twoLeaders, found, replay, true},
		{"mutant survives", twoLeaders, parse(complete), "", false},
		{"mutant refuted by chance", tokenAgain, found, replay, false},
		{"finding without its words", twoLeaders, found, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := result{run: run{finds: c.finds}, report: c.rep, steps: steps(c.trail)}
			if got := r.surprise(); (got == "") != c.good {
				t.Errorf("surprise %q", got)
			}
			if (verdict([]result{r}) == nil) != c.good {
				t.Error("the verdict is another")
			}
		})
	}
}

func TestPrintSteps(t *testing.T) {
	var b strings.Builder
	printSteps(&b, steps(replay))
	want := "tick 0  host 1 leads\ntick 1  host 0 leads\ntick 1  violated: two leaders\n"
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

// TestSwitches: a switch that the model does not know would change nothing, and a mutant
// or a trap that no run names would show nothing.
func TestSwitches(t *testing.T) {
	model, err := os.ReadFile(filepath.Join("..", "election.pml"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, line := range strings.Split(string(model), "\n") {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range regexp.MustCompile(`[A-Z][A-Z_0-9]*`).FindAllString(line, -1) {
			known[word] = true
		}
	}
	used, seen := map[string]bool{}, map[string]bool{}
	for _, r := range runs() {
		if seen[r.name] {
			t.Errorf("two runs are named %s", r.name)
		}
		seen[r.name] = true
		for _, d := range r.defines {
			sw, _, _ := strings.Cut(d, "=")
			used[sw] = true
			if !known[sw] {
				t.Errorf("%s: the model has no switch %s", r.name, sw)
			}
		}
		if r.finds != "" && !strings.Contains(string(model), r.finds+`\n"`) {
			t.Errorf("%s: the model never prints %q", r.name, r.finds)
		}
	}
	for sw := range known {
		if regexp.MustCompile(`^(MUT|OUT|REACH)_`).MatchString(sw) && !used[sw] {
			t.Errorf("no run uses %s", sw)
		}
	}
}

// TestMissingSpin: without spin there is nothing to check, which is said, and is a
// failure only where it is asked to be.
func TestMissingSpin(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out strings.Builder
	if err := check(t.Context(), nil, &out); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "skipped: spin is missing") || !strings.Contains(out.String(), "apt-get install spin") {
		t.Errorf("said %q", out.String())
	}
	if err := check(t.Context(), []string{"-require"}, &out); err == nil || !strings.Contains(err.Error(), "spin is missing") {
		t.Errorf("with -require: %v", err)
	}
}
