package mutants

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Mutant is one deliberate fault.
type Mutant struct {
	Name      string
	Why       string // what goes wrong in the world, a sentence
	Witnesses []Witness
	Patches   []Patch
}

// Witness is a test that must fail with the mutant and pass without it.
type Witness struct {
	Package string // its folder in the repository, with slashes
	Test    string
	// Profile and Seeds are those of a simulation; Seeds is 0 for a directed test.
	Profile string
	Seeds   int
	// Says is what the failed test's output must match: it has to fail for the
	// reason that the mutant gives it.
	Says *regexp.Regexp
}

// Patch replaces Old, which is in File exactly once, by New.
type Patch struct {
	File     string // in the repository, with slashes
	Old, New string
}

const (
	simPackage = "core/internal/sim"
	simTest    = "TestSim"
)

// String names the witness as the tables have it.
func (w Witness) String() string {
	if w.Seeds > 0 {
		return fmt.Sprintf("simulation %s", w.Profile)
	}
	return w.Test
}

//go:embed testdata/*.mutant
var files embed.FS

// All returns the mutants, in the order of their names.
func All() ([]Mutant, error) {
	entries, err := files.ReadDir("testdata")
	if err != nil {
		return nil, fmt.Errorf("mutants: %w", err)
	}
	var all []Mutant
	var faults []error
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("testdata", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("mutants: %w", err)
		}
		m, err := Parse(strings.TrimSuffix(e.Name(), ".mutant"), string(text))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all = append(all, m)
	}
	return all, errors.Join(faults...)
}

// Parse reads a mutant in the form that the package comment shows.
func Parse(name, text string) (Mutant, error) {
	m := Mutant{Name: name}
	head, patches, _ := strings.Cut(text, "\n--- ")
	for n, line := range strings.Split(head, "\n") {
		if line == "" {
			continue
		}
		if err := m.field(line); err != nil {
			return m, fmt.Errorf("mutants: %s.mutant, line %d: %w", name, n+1, err)
		}
	}
	if patches != "" {
		for _, text := range strings.Split(patches, "\n--- ") {
			if err := m.patch(text); err != nil {
				return m, fmt.Errorf("mutants: %s.mutant: %w", name, err)
			}
		}
	}
	return m, m.complete()
}

func (m *Mutant) field(line string) error {
	key, value, _ := strings.Cut(line, ": ")
	words := strings.Fields(value)
	switch {
	case key == "why":
		m.Why = value
	case key == "test" && len(words) == 2:
		m.Witnesses = append(m.Witnesses, Witness{Package: words[0], Test: words[1]})
	case key == "sim" && len(words) == 2:
		seeds, err := strconv.Atoi(words[1])
		if err != nil || seeds < 1 {
			return fmt.Errorf("%q is no number of seeds", words[1])
		}
		m.Witnesses = append(m.Witnesses, Witness{Package: simPackage, Test: simTest, Profile: words[0], Seeds: seeds})
	case key == "says" && len(m.Witnesses) > 0 && m.Witnesses[len(m.Witnesses)-1].Says == nil:
		says, err := regexp.Compile("(?m)" + value)
		if err != nil {
			return err
		}
		m.Witnesses[len(m.Witnesses)-1].Says = says
	default:
		return fmt.Errorf("%q: want why: TEXT, test: FOLDER NAME, sim: PROFILE SEEDS, or says: REGEXP after one of the two", line)
	}
	return nil
}

func (m *Mutant) patch(text string) error {
	file, body, _ := strings.Cut(text, "\n")
	old, replacement, ok := strings.Cut("\n"+body, "\n+++\n")
	old, replacement = strings.Trim(old, "\n"), strings.Trim(replacement, "\n")
	if !ok || old == "" || old == replacement {
		return fmt.Errorf("the patch of %s needs an old text, a line +++, and another new text", file)
	}
	m.Patches = append(m.Patches, Patch{File: strings.TrimSpace(file), Old: old, New: replacement})
	return nil
}

// complete says what a mutant lacks.
func (m *Mutant) complete() error {
	var faults []error
	lacks := func(what string) { faults = append(faults, fmt.Errorf("mutants: %s.mutant has no %s", m.Name, what)) }
	if m.Why == "" {
		lacks("why")
	}
	if len(m.Witnesses) == 0 {
		lacks("witness (test or sim)")
	}
	if len(m.Patches) == 0 {
		lacks("patch")
	}
	for _, w := range m.Witnesses {
		if w.Says == nil {
			lacks("says for " + w.String())
		}
	}
	return errors.Join(faults...)
}
