package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// memory is what a search may take, in megabytes, and depth how long a path may be.
const (
	memory = "6000"
	depth  = "5000000"
)

// tools are the programs that a search needs.
type tools struct{ spin, cc string }

// result is what became of a run.
type result struct {
	run
	report
	steps []string // to what was found
	fault error    // the search could not be made
	took  time.Duration
}

// run makes the search of r in a folder of its own: spin writes a C program, which searches.
func (t tools) run(ctx context.Context, source []byte, r run) result {
	res := result{run: r}
	dir, err := os.MkdirTemp("", "cloudelect-model-")
	if err != nil {
		res.fault = fmt.Errorf("model: no folder to work in: %w", err)
		return res
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "election.pml"), source, 0o600); err != nil {
		res.fault = fmt.Errorf("model: %w", err)
		return res
	}
	spin := []string{"-a"}
	for _, d := range r.defines {
		spin = append(spin, "-D"+d)
	}
	if _, err := command(ctx, dir, t.spin, append(spin, "election.pml")...); err != nil {
		res.fault = err
		return res
	}
	// No partial order reduction: all steps share all variables, so it would save nothing.
	cc := []string{"-w", "-o", "pan", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=" + memory}
	switch {
	case r.passes():
		cc = append(cc, "-O2", "-DCOLLAPSE")
	case r.large:
		cc = append(cc, "-O1", "-DBFS") // breadth first: the shortest way there
	default:
		cc = append(cc, "-O0", "-DBFS") // the compiler takes longer than the search
	}
	if _, err := command(ctx, dir, t.cc, append(cc, "pan.c")...); err != nil {
		res.fault = err
		return res
	}
	out, err := command(ctx, dir, "./pan", "-m"+depth)
	res.report = parse(out)
	if err != nil && res.complaint == "" {
		res.complaint = err.Error()
	}
	if res.errors > 0 {
		// The replay ends with an error by design; its words are what counts.
		replay, _ := command(ctx, dir, "./pan", "-r", "-S")
		res.steps = steps(replay)
	}
	return res
}

// command runs a program in dir and returns all it says.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("model: %s %s: %w\n%s", name, strings.Join(args, " "), err, tail(string(out)))
	}
	return string(out), err
}

// tail is the end of a long text.
func tail(s string) string {
	const most = 2000
	if len(s) > most {
		return "..." + s[len(s)-most:]
	}
	return s
}

// found is the claim or trap that the steps end with.
func (r result) found() string {
	for _, s := range r.steps {
		if isFinding(s) {
			return s
		}
	}
	return ""
}

// surprise says why the result is not the expected one, or "".
func (r result) surprise() string {
	switch {
	case r.fault != nil:
		return r.fault.Error()
	case !r.finished:
		return "the search printed no result: " + r.complaint
	case r.passes() && r.errors > 0:
		return "found something: " + r.found()
	case r.passes() && r.complaint != "":
		return "the search is not complete: " + r.complaint
	case r.passes():
		return ""
	case r.errors == 0 && r.complaint != "":
		return "found nothing, but the search is not complete: " + r.complaint
	case r.errors == 0:
		return "found nothing"
	case r.found() != r.finds:
		return "found something else: " + r.found()
	}
	return ""
}

// says is the result in a word or two.
func (r result) says() string {
	if s := r.surprise(); s != "" {
		return "SURPRISE: " + s
	}
	if r.passes() {
		return fmt.Sprintf("holds in all %d states", r.states)
	}
	return r.found()
}
