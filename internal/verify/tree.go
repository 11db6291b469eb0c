package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Root returns the nearest folder at or above dir that holds a go.mod.
func Root(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("verify: find the root of the module: %w", err)
	}
	for d := start; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("verify: no go.mod in %s or in any folder above it", start)
		}
	}
}

var moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)"?`)

// ModulePath returns the module path that root's go.mod declares.
func ModulePath(root string) (string, error) {
	name := filepath.Join(root, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("verify: read the module path: %w", err)
	}
	m := moduleLine.FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("verify: %s has no module line", name)
	}
	return string(m[1]), nil
}

// TextFiles calls visit for every text file of the tree below root: name is
// relative, with slashes. What git keeps or `make` leaves behind (.git, and bin and
// build at the top) is left out, and so are binary files.
func TextFiles(root string, visit func(name string, text []byte) error) error {
	err := walk(root, func(name string) bool {
		return path.Base(name) == ".git" || name == "bin" || name == "build"
	}, func(name string) error {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		return visit(name, text)
	})
	if err != nil {
		return fmt.Errorf("verify: read the files below %s: %w", root, err)
	}
	return nil
}

// goFiles returns the non-test Go files below root, those for other platforms
// included, without what the go command ignores in ./... patterns: testdata,
// vendor, names that begin with . or _, and modules of their own. None at all is
// an error, because a check of nothing proves nothing.
func goFiles(root string) ([]string, error) {
	var names []string
	err := walk(root, func(name string) bool {
		base := path.Base(name)
		_, err := os.Stat(filepath.Join(root, name, "go.mod"))
		return base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' || err == nil
	}, func(name string) error {
		base := path.Base(name)
		if path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && base[0] != '.' && base[0] != '_' {
			names = append(names, name)
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		err = errors.New("no Go packages found")
	}
	if err != nil {
		return nil, fmt.Errorf("verify: list the Go files below %s: %w", root, err)
	}
	return names, nil
}

// walk calls visit for every regular file below root, by relative name with
// slashes, in lexical order; folders for which skip holds are left out.
func walk(root string, skip func(name string) bool, visit func(name string) error) error {
	return fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && skip(name):
			return fs.SkipDir
		case d.Type().IsRegular():
			return visit(name)
		}
		return nil
	})
}

// under reports whether name is prefix or lies below it.
func under(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && (rest == "" || rest[0] == '/')
}
