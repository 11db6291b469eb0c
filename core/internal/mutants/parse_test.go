package mutants

import (
	"strings"
	"testing"
)

const wellFormed = `why: something goes wrong
test: core TestA
says: two .*leaders
sim: all 300
says: two leaders

--- core/a.go
	old
	lines
+++
	new

--- core/b.go
gone
+++
`

func TestParse(t *testing.T) {
	m, err := Parse("m", wellFormed)
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "m" || m.Why != "something goes wrong" || len(m.Witnesses) != 2 || len(m.Patches) != 2 {
		t.Fatalf("Parse = %+v", m)
	}
	if w := m.Witnesses[0]; w.Package != "core" || w.Test != "TestA" || w.Seeds != 0 || w.Says.String() != "(?m)two .*leaders" {
		t.Errorf("the first witness is %+v", w)
	}
	if w := m.Witnesses[1]; w.Package != simPackage || w.Test != simTest || w.Profile != "all" || w.Seeds != 300 {
		t.Errorf("the second witness is %+v", w)
	}
	if want := (Patch{"core/a.go", "\told\n\tlines", "\tnew"}); m.Patches[0] != want {
		t.Errorf("the first patch is %+v, want %+v", m.Patches[0], want)
	}
	if want := (Patch{"core/b.go", "gone", ""}); m.Patches[1] != want {
		t.Errorf("the second patch is %+v, want %+v", m.Patches[1], want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, replacement, says string }{
		{"no reason", "why: something goes wrong\n", "", "has no why"},
		{"no statement", "says: two leaders\n", "", "has no says"},
		{"a statement about nothing", "test: core TestA\n", "", "line 2"},
		{"an unknown field", "test: core TestA", "toast: core TestA", "line 2"},
		{"too few words", "sim: all 300", "sim: 300", "line 4"},
		{"no number", "sim: all 300", "sim: all some", "some"},
		{"no seeds", "sim: all 300", "sim: all 0", "no number of seeds"},
		{"a bad expression", "says: two .*leaders", "says: (", "line 3"},
		{"no new text", "+++\n\tnew\n", "", "core/a.go"},
		{"the same text", "\tnew\n", "\told\n\tlines\n", "core/a.go"},
		{"no old text", "gone\n", "", "core/b.go"},
	} {
		text := strings.Replace(wellFormed, c.old, c.replacement, 1)
		if _, err := Parse("m", text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: Parse = %v, want an error that says %q", c.name, err, c.says)
		}
	}
	for name, text := range map[string]string{"no witness": "why: x\n\n--- a\nb\n+++\nc\n", "no patch": "why: x\ntest: core TestA\nsays: x\n"} {
		if _, err := Parse("m", text); err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(name, "no ", "has no ")) {
			t.Errorf("%s: Parse = %v", name, err)
		}
	}
}
