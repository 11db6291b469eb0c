package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// A Bench builds and runs tests of one repository. Its files are in a folder of
// its own, apart from the tree.
type Bench struct {
	Root string
	Dir  string // for what it builds; the caller removes it
}

// testTimeout bounds one run of a test binary. A mutant that makes a test hang is
// not caught: nobody could tell why it hangs.
const testTimeout = "120s"

// build compiles the tests of a package, with m's patches unless m is nil, and
// returns the name of the binary. Without patches it is built once.
func (b *Bench) build(ctx context.Context, m *Mutant, pkg string) (string, error) {
	name := "unchanged"
	if m != nil {
		name = m.Name
	}
	dir := filepath.Join(b.Dir, name, path.Base(pkg))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	binary := filepath.Join(dir, "test.exe") // a name that every system can run
	if _, err := os.Stat(binary); err == nil && m == nil {
		return binary, nil
	}
	args := []string{"test", "-c", "-ldflags=-s -w", "-o", binary}
	if m != nil {
		overlay, err := m.overlay(b.Root, dir)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+pkg)...)
	cmd.Dir = b.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mutants: %s: the tests of %s do not build: %w\n%s", name, pkg, err, out)
	}
	return binary, nil
}

// run runs a test binary in its package's folder, and returns what it printed and
// whether it passed. An error means that it did not run.
func (b *Bench) run(ctx context.Context, binary, pkg string, args ...string) (out string, passed bool, err error) {
	args = append([]string{"-test.timeout=" + testTimeout, "-test.failfast"}, args...)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = filepath.Join(b.Root, filepath.FromSlash(pkg))
	text, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case err == nil:
		return string(text), true, nil
	case errors.As(err, &failed):
		return string(text), false, nil
	}
	return "", false, fmt.Errorf("mutants: the tests of %s do not start: %w", pkg, err)
}

// args are a test binary's flags for this witness.
func (w Witness) args() []string {
	args := []string{"-test.run=^" + w.Test + "$"}
	if w.Seeds > 0 {
		args = append(args, "-sim.profile="+w.Profile, "-sim.seeds="+strconv.Itoa(w.Seeds))
	}
	return args
}

// batch is how many seeds the unchanged engine plays in one run. From a hundred on
// the simulation also demands that every kind of event was met, which one profile
// alone cannot give.
const batch = 99

// Unchanged demands that every witness passes with the engine as it is, and each
// simulation with all the seeds that any mutant is given.
func (b *Bench) Unchanged(ctx context.Context, all []Mutant) error {
	tests := map[string][]string{}   // by package
	profiles := map[string]Witness{} // with the most seeds
	for _, m := range all {
		for _, w := range m.Witnesses {
			if w.Seeds > profiles[w.Profile].Seeds {
				profiles[w.Profile] = w
			} else if w.Seeds == 0 {
				tests[w.Package] = append(tests[w.Package], w.Test)
			}
		}
	}
	for pkg, names := range tests {
		out, err := b.demand(ctx, pkg, "-test.v", "-test.run=^("+strings.Join(names, "|")+")$")
		if err != nil {
			return err
		}
		for _, name := range names { // a name that is no test's passes, too
			if !strings.Contains(out, "--- PASS: "+name+" ") {
				return fmt.Errorf("mutants: there is no test %s in %s, or it was skipped", name, pkg)
			}
		}
	}
	for _, w := range profiles {
		for first := 1; first <= w.Seeds; first += batch {
			part := w
			part.Seeds = min(batch, w.Seeds-first+1)
			if _, err := b.demand(ctx, w.Package, append(part.args(), "-sim.first="+strconv.Itoa(first))...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Bench) demand(ctx context.Context, pkg string, args ...string) (string, error) {
	binary, err := b.build(ctx, nil, pkg)
	if err != nil {
		return "", err
	}
	out, passed, err := b.run(ctx, binary, pkg, args...)
	if err == nil && !passed {
		err = fmt.Errorf("mutants: the tests of %s fail with the unchanged engine, so they show nothing (%s):\n%s",
			pkg, strings.Join(args, " "), out)
	}
	return out, err
}
