package main

import (
	"bytes"
	"fmt"
	"go/format"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cloudelect/cloudelect/internal/verify"
)

// rename changes the module path of the tree at root to module and prints what it
// changed to out. All new texts are made before the first one is written, so that a
// file that cannot be read or formatted leaves the tree as it was.
func rename(root, module string, out io.Writer) error {
	if err := checkPath(module); err != nil {
		return err
	}
	old, err := verify.ModulePath(root)
	if err != nil {
		return err
	}
	if old == module {
		fmt.Fprintf(out, "rename: the module is called %s already\n", module)
		return nil
	}
	type change struct {
		name string
		text []byte
	}
	var changes []change
	err = verify.TextFiles(root, func(name string, text []byte) error {
		changed := replacePath(text, old, module)
		if bytes.Equal(changed, text) {
			return nil
		}
		if path.Ext(name) == ".go" {
			// The order of imports depends on their paths.
			formatted, err := format.Source(changed)
			if err != nil {
				return fmt.Errorf("rename: %s: %w", name, err)
			}
			changed = formatted
		}
		changes = append(changes, change{name, changed})
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		// The file exists, so WriteFile leaves its mode alone.
		if err := os.WriteFile(filepath.Join(root, c.name), c.text, 0o644); err != nil {
			return fmt.Errorf("rename: the tree is half renamed, restore it with git: %w", err)
		}
	}
	fmt.Fprintf(out, "rename: %s is now %s (%d files)\n", old, module, len(changes))
	return nil
}

// replacePath replaces old where it stands as a whole path or as its beginning, not
// as a part of a longer name.
func replacePath(text []byte, old, module string) []byte {
	pattern := regexp.MustCompile(`(^|[^A-Za-z0-9_.-])` + regexp.QuoteMeta(old) + `($|[^A-Za-z0-9_-])`)
	for {
		// Twice in a row, separated by a single byte, the two matches overlap: repeat.
		// A new path that contains the old one would never end, so the part that was
		// replaced is marked by a byte that no text file holds.
		next := pattern.ReplaceAll(text, []byte("${1}\x00${2}"))
		if bytes.Equal(next, text) {
			return bytes.ReplaceAll(text, []byte{0}, []byte(module))
		}
		text = next
	}
}

var (
	hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)
	element  = regexp.MustCompile(`^[A-Za-z0-9_~-]([A-Za-z0-9._~-]*[A-Za-z0-9_~-])?$`)
	majorTwo = regexp.MustCompile(`^v([2-9]|[1-9][0-9]+)$`)
	anyMajor = regexp.MustCompile(`^v[0-9]+$`)
)

// checkPath refuses what the go command would refuse, before anything is written.
func checkPath(module string) error {
	fault := func(why string) error {
		return fmt.Errorf("rename: %q is no module path: %s; write one like example.com/elections", module, why)
	}
	parts := strings.Split(module, "/")
	if module == "" {
		return fault("it is empty")
	}
	if !hostName.MatchString(parts[0]) {
		return fault("it has to begin with a host name in lower case that has a dot in it")
	}
	for _, p := range parts[1:] {
		if !element.MatchString(p) {
			return fault(fmt.Sprintf("the part %q is empty, begins or ends with a dot, or has other characters than letters, digits and -._~", p))
		}
	}
	last := parts[len(parts)-1]
	if len(parts) > 1 && anyMajor.MatchString(last) && !majorTwo.MatchString(last) {
		return fault("versions in a path begin with v2")
	}
	return nil
}
