package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Joined, or renaming this repository would rename what these tests begin with.
const oldPath = "github.com" + "/old/module"

func TestRename(t *testing.T) {
	before := map[string]string{
		"go.mod":    "module " + oldPath + "\n\ngo 1.26.0\n\nrequire " + oldPath + "x v1.0.0\n",
		"README.md": "[docs](https://pkg.go.dev/" + oldPath + ") `go get " + oldPath + "/core@latest`, not x" + oldPath + "\n",
		"a.go":      "package a\n\nimport (\n\t\"" + oldPath + "/core\"\n\t\"github.com/other/b\"\n)\n",
		".ci/run":   "go test " + oldPath + "/... " + oldPath + " " + oldPath + "\n",
		"bin/x":     oldPath,
	}
	after := map[string]string{
		"go.mod":    "module zebra.example/m\n\ngo 1.26.0\n\nrequire " + oldPath + "x v1.0.0\n",
		"README.md": "[docs](https://pkg.go.dev/zebra.example/m) `go get zebra.example/m/core@latest`, not x" + oldPath + "\n",
		"a.go":      "package a\n\nimport (\n\t\"github.com/other/b\"\n\t\"zebra.example/m/core\"\n)\n", // sorted
		".ci/run":   "go test zebra.example/m/... zebra.example/m zebra.example/m\n",
		"bin/x":     oldPath,
	}
	root := write(t, before)
	if err := os.Chmod(filepath.Join(root, ".ci/run"), 0o755); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := rename(root, "zebra.example/m", &out); err != nil {
		t.Fatal(err)
	}
	compare(t, root, after)
	if want := "rename: " + oldPath + " is now zebra.example/m (4 files)\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if info, err := os.Stat(filepath.Join(root, ".ci/run")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("mode of the script is %v, %v: not executable any more", info.Mode(), err)
	}

	// And back: the result depends on the path alone.
	if err := rename(root, oldPath, io.Discard); err != nil {
		t.Fatal(err)
	}
	compare(t, root, before)
}

func TestRenameToLongerPath(t *testing.T) {
	root := write(t, map[string]string{"go.mod": "module " + oldPath + "\n", "doc.md": oldPath + "/core\n"})
	if err := rename(root, oldPath+"/v2", io.Discard); err != nil {
		t.Fatal(err)
	}
	compare(t, root, map[string]string{"go.mod": "module " + oldPath + "/v2\n", "doc.md": oldPath + "/v2/core\n"})
}

func TestRenameLeavesTheTreeWhenItFails(t *testing.T) {
	files := map[string]string{"go.mod": "module " + oldPath + "\n", "z.go": "package \"" + oldPath + "\"\n"}
	root := write(t, files)
	if err := rename(root, "example.com/m", io.Discard); err == nil || !strings.Contains(err.Error(), "z.go") {
		t.Errorf("error %v; want one that names z.go", err)
	}
	compare(t, root, files)
}

func TestCheckPath(t *testing.T) {
	for _, good := range []string{"example.com/x", "example.com", "github.com/Some-One/Repo_1", "example.com/x/v2", "example.com/~u/x.go/v10"} {
		if err := checkPath(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "x", "local/x", "https://example.com/x", "example.com/x/", "/example.com/x", "example.com//x", "example.com/../x",
		"example.com/.x", "example.com/x y", "example.com/x@v1", "Example.com/x", "example.com/x/v1", "example.com/x/v0", "-a.com/x", "example.com/$x",
	} {
		root := write(t, map[string]string{"go.mod": "module " + oldPath + "\n"})
		err := rename(root, bad, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "is no module path") {
			t.Errorf("%q was not refused: %v", bad, err)
		}
		compare(t, root, map[string]string{"go.mod": "module " + oldPath + "\n"})
	}
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func compare(t *testing.T, root string, want map[string]string) {
	t.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || string(got) != text {
			t.Errorf("%s is %q, %v; want %q", name, got, err, text)
		}
	}
}
