package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Root returns the folder of the repository that dir is in: the next one upwards
// that holds a go.mod.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("mutants: no go.mod here or above: run this inside the repository")
		}
		dir = up
	}
}

// Apply returns the patched texts by the names of their files. It changes no file.
func (m Mutant) Apply(root string) (map[string]string, error) {
	patched := map[string]string{}
	for _, p := range m.Patches {
		text, ok := patched[p.File]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.File)))
			if err != nil {
				return nil, fmt.Errorf("mutants: %s: %w", m.Name, err)
			}
			text = string(b)
		}
		if n := strings.Count(text, p.Old); n != 1 {
			return nil, fmt.Errorf("mutants: %s: %s holds the old text %d times, not once; the engine has changed: fit testdata/%s.mutant to it:\n%s",
				m.Name, p.File, n, m.Name, p.Old)
		}
		patched[p.File] = strings.Replace(text, p.Old, p.New, 1)
	}
	return patched, nil
}

// overlay writes the patched files into dir, and beside them the file that makes
// the go command read them in place of the shipped ones. It returns that one's name.
func (m Mutant) overlay(root, dir string) (string, error) {
	patched, err := m.Apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range patched {
		copied := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("mutants: %w", err)
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = copied
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	return name, nil
}
