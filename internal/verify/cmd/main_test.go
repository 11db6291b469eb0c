package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(wantCode int, wantOut, wantErr string, names ...string) {
		t.Helper()
		var stdout, stderr strings.Builder
		if code := run(filepath.Join(root, "core"), names, &stdout, &stderr); code != wantCode {
			t.Errorf("run(%v) = %d, want %d", names, code, wantCode)
		}
		if stdout.String() != wantOut || !strings.Contains(stderr.String(), wantErr) {
			t.Errorf("run(%v) printed %q and %q; want %q and %q", names, stdout.String(), stderr.String(), wantOut, wantErr)
		}
	}
	write("go.mod", "module example.com/m\n")
	check(1, "", "no Go packages found", "imports")

	write("core/doc.go", "// Package core elects.\npackage core\n")
	check(0, "", "")
	check(2, "", `no check "spelling"`, "spelling")

	write("README.md", "[no](no.md)\n")
	check(1, "README.md:1: link \"no.md\": there is no no.md\n", "links: failed")
	check(0, "", "", "imports", "packagedoc", "forbidden")
}
