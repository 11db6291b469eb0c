package mutants

import (
	"errors"
	"regexp"
	"testing"
)

func TestJudge(t *testing.T) {
	directed := Witness{Package: "core", Test: "TestA", Says: regexp.MustCompile("two leaders")}
	simulated := Witness{Package: simPackage, Test: simTest, Profile: "all", Seeds: 300, Says: directed.Says}
	for _, c := range []struct {
		name     string
		w        Witness
		out      string
		passed   bool
		caught   bool
		wantSeed int
	}{
		{name: "caught", w: directed, out: "--- FAIL: TestA (0.01s)\n a_test.go:1: two leaders\nFAIL\n", caught: true},
		{name: "caught by a seed", w: simulated,
			out:    "--- FAIL: TestSim (0.01s)\n sim: violation: two leaders\n repeat: -sim.profile=all -sim.seed=17\nFAIL\n",
			caught: true, wantSeed: 17},
		{name: "passed", w: directed, out: "PASS\n", passed: true},
		{name: "another reason", w: directed, out: "--- FAIL: TestA (0.01s)\n a_test.go:1: nobody leads\nFAIL\n"},
		{name: "another test", w: directed, out: "--- FAIL: TestB (0.01s)\n b_test.go:1: two leaders\nFAIL\n"},
		{name: "a test whose name goes on", w: directed, out: "--- FAIL: TestAB (0.01s)\n two leaders\nFAIL\n"},
		{name: "broke off", w: directed, out: "panic: two leaders\n"},
		{name: "hung", w: directed, out: "--- FAIL: TestA (0.01s)\n two leaders\npanic: test timed out after 2m0s\n"},
		{name: "no seed", w: simulated, out: "--- FAIL: TestSim (0.01s)\n two leaders\nFAIL\n"},
	} {
		seed, err := c.w.judge(c.out, c.passed)
		if (err == nil) != c.caught || seed != c.wantSeed {
			t.Errorf("%s: judge = %d, %v", c.name, seed, err)
		}
		if errors.Is(err, ErrSurvived) != c.passed {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}
