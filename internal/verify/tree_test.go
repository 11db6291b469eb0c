package verify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree writes files (name -> content) below a new folder, with a go.mod for
// example.com/m unless there is one, and returns the folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	for name, text := range files {
		write(name, text)
	}
	return root
}

// expect compares problems with "file:line: words" patterns, one for each problem in
// order: the place has to be equal, the words have to occur in the message.
func expect(t *testing.T, problems []Problem, want []string) {
	t.Helper()
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		place, words, _ := strings.Cut(want[i], ": ")
		ok = strings.HasPrefix(got[i], place+": ") && strings.Contains(got[i], words)
	}
	if !ok {
		t.Errorf("problems:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestRoot(t *testing.T) {
	root := tree(t, map[string]string{"a/b/x.txt": ""})
	got, err := Root(filepath.Join(root, "a", "b"))
	if err != nil || got != root {
		t.Errorf("Root = %q, %v; want %q", got, err, root)
	}
	if got, err := Root(string(filepath.Separator)); err == nil {
		t.Errorf("Root found %q where there is no module", got)
	}
}

func TestModulePath(t *testing.T) {
	for text, want := range map[string]string{
		"module example.com/m\n":                          "example.com/m",
		"// module no\nmodule \"example.com/q\" // why\n": "example.com/q",
		"go 1.26\n": "",
	} {
		got, err := ModulePath(tree(t, map[string]string{"go.mod": text}))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ModulePath of %q = %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestGoFiles(t *testing.T) {
	root := tree(t, map[string]string{
		"core/a.go": "package core", "core/a_test.go": "package core", "core/windows_windows.go": "package core",
		"core/testdata/x.go": "no Go at all", "_old/a.go": "", ".hidden/a.go": "", "vendor/v/a.go": "",
		"tools/go.mod": "module example.com/tools", "tools/a.go": "",
	})
	got, err := goFiles(root)
	if want := []string{"core/a.go", "core/windows_windows.go"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("goFiles = %v, %v; want %v", got, err, want)
	}
}

func TestTextFiles(t *testing.T) {
	root := tree(t, map[string]string{
		"a.md": "text", "b.bin": "x\x00y", ".git/config": "", "bin/elect": "", "build/cover.out": "", "docs/build/x.md": "",
	})
	var got []string
	err := TextFiles(root, func(name string, _ []byte) error { got = append(got, name); return nil })
	if want := []string{"a.md", "docs/build/x.md", "go.mod"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("TextFiles visited %v, %v; want %v", got, err, want)
	}
}

// A tree without code must not pass for a tree without faults.
func TestNothingToCheckIsAnError(t *testing.T) {
	root := tree(t, nil)
	for _, c := range Checks() {
		if c.Name == "links" || c.Name == "examples" { // a repository may have no documentation yet
			continue
		}
		if problems, err := c.Run(root); err == nil {
			t.Errorf("%s of a tree without packages: %v and no error", c.Name, problems)
		}
	}
}
