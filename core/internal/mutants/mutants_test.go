package mutants

import (
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// required are the faults that there must be a mutant for, whatever else there is.
func required() []string {
	return []string{
		"no-margin", "own-term", "deadline-from-the-answer", "monotonic-clock-only", "wall-clock-only",
		"observation-not-restarted", "observation-by-leader", "observed-from-the-request", "no-read-back",
		"lost-renewal-without-nonce", "lost-win-without-nonce", "newest-send-time", "nonces-per-process",
		"late-confirmation-revives", "delete-on-resign", "resign-before-the-work-stopped", "no-precondition",
		"no-rounding-second", "sentby-from-one-clock", "clock-proof-overrules-store-time", "held-entry-reclaimed",
		"vanished-entry-taken", "tokens-restart-after-a-deletion", "watchdog-behind-the-renewal",
	}
}

func TestEveryRequiredFaultIsThere(t *testing.T) {
	all := every(t)
	for _, name := range required() {
		if !slices.ContainsFunc(all, func(m Mutant) bool { return m.Name == name }) {
			t.Errorf("there is no testdata/%s.mutant", name)
		}
	}
	if len(all) < 25 {
		t.Errorf("%d mutants, want 25 at least", len(all))
	}
}

// A patch that no longer fits the engine would otherwise be noticed by the
// program only, which takes minutes.
func TestPatchesFitTheEngine(t *testing.T) {
	root := repository(t)
	for _, m := range every(t) {
		patched, err := m.Apply(root)
		if err != nil {
			t.Error(err)
		}
		for _, name := range slices.Sorted(maps.Keys(patched)) {
			pretty, err := format.Source([]byte(patched[name]))
			if err != nil {
				t.Errorf("%s: %s is no Go any more: %v", m.Name, name, err)
			} else if string(pretty) != patched[name] {
				t.Errorf("%s: %s is not formatted with gofmt", m.Name, name)
			}
		}
	}
}

// Two mutants with one patch are one mutant.
func TestMutantsDiffer(t *testing.T) {
	seen := map[string]string{}
	root := repository(t)
	for _, m := range every(t) {
		patched, err := m.Apply(root)
		if err != nil {
			t.Fatal(err)
		}
		var key strings.Builder
		for _, name := range slices.Sorted(maps.Keys(patched)) {
			key.WriteString(name + "\n" + patched[name])
		}
		if other, ok := seen[key.String()]; ok {
			t.Errorf("%s and %s are the same", m.Name, other)
		}
		seen[key.String()] = m.Name
	}
}

// The name of a test that was renamed would run none, and none fails.
func TestWitnessesAreThere(t *testing.T) {
	root := repository(t)
	for _, m := range every(t) {
		for _, w := range m.Witnesses {
			declared := regexp.MustCompile(`(?m)^func ` + w.Test + `\(t \*testing\.T\)`)
			files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(w.Package), "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(name string) bool {
				text, err := os.ReadFile(name)
				return err == nil && declared.Match(text)
			}) {
				t.Errorf("%s: there is no %s in %s", m.Name, w.Test, w.Package)
			}
		}
	}
}

func TestApplyWantsTheOldTextOnce(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("one two two"), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := func(patches ...Patch) (string, error) {
		patched, err := Mutant{Name: "m", Patches: patches}.Apply(root)
		return patched["a.go"], err
	}
	if got, err := apply(Patch{"a.go", "one", "1"}, Patch{"a.go", "1 two", "2"}); got != "2 two" || err != nil {
		t.Errorf("two patches of one file made %q, %v", got, err)
	}
	for _, old := range []string{"two", "three"} {
		if _, err := apply(Patch{"a.go", old, "x"}); err == nil || !strings.Contains(err.Error(), "m.mutant") {
			t.Errorf("patching %q: %v; want an error that names the file to mend", old, err)
		}
	}
	if _, err := apply(Patch{"b.go", "one", "1"}); err == nil {
		t.Error("a file that is not there was patched")
	}
	if text, _ := os.ReadFile(filepath.Join(root, "a.go")); string(text) != "one two two" {
		t.Errorf("the tree was changed: %q", text)
	}
}

func every(t *testing.T) []Mutant {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func repository(t *testing.T) string {
	t.Helper()
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	return root
}
