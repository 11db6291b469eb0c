package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Finding is what became of a mutant before one of its witnesses.
type Finding struct {
	Witness
	Err  error // nil: caught, for the stated reason
	Seed int   // the seed that caught it; 0 for a directed test
	Took time.Duration
	Out  string // what the test printed
}

// ErrSurvived: the test passed although the engine is broken.
var ErrSurvived = errors.New("survived")

// Try builds the mutant once for each package that has a witness, and runs them all.
func (b *Bench) Try(ctx context.Context, m Mutant) []Finding {
	defer os.RemoveAll(filepath.Join(b.Dir, m.Name))
	binaries := map[string]string{}
	var found []Finding
	for _, w := range m.Witnesses {
		began := time.Now()
		f := Finding{Witness: w}
		binary, ok := binaries[w.Package]
		if !ok {
			binary, f.Err = b.build(ctx, &m, w.Package)
			binaries[w.Package] = binary
		}
		if f.Err == nil {
			var passed bool
			f.Out, passed, f.Err = b.run(ctx, binary, w.Package, w.args()...)
			if f.Err == nil {
				f.Seed, f.Err = w.judge(f.Out, passed)
			}
		}
		f.Took = time.Since(began)
		found = append(found, f)
	}
	return found
}

// repeat is how a simulation says which seed failed.
var repeat = regexp.MustCompile(`-sim\.seed[= ](\d+)`)

// judge tells whether a test's output means that it has caught the fault: it
// failed, by itself, and said what it was to say.
func (w Witness) judge(out string, passed bool) (seed int, err error) {
	switch {
	case passed:
		return 0, ErrSurvived
	case strings.Contains(out, "panic: test timed out"):
		return 0, errors.New("not caught but hung: the test was stopped after " + testTimeout)
	case !regexp.MustCompile(`(?m)^--- FAIL: ` + w.Test + ` `).MatchString(out):
		return 0, fmt.Errorf("the tests broke off without %s having failed", w.Test)
	case !w.Says.MatchString(out):
		return 0, fmt.Errorf("failed for another reason than %q", w.Says)
	case w.Seeds == 0:
		return 0, nil
	}
	said := repeat.FindStringSubmatch(out)
	if said == nil {
		return 0, errors.New("the simulation does not say which seed failed (-sim.seed N)")
	}
	seed, err = strconv.Atoi(said[1])
	return seed, err
}
