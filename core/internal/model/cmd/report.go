package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// report is what a search printed about itself.
type report struct {
	finished bool // it printed how many errors it found
	errors   int
	states   int
	depth    int
	// megabytes is all the memory it took, seconds the time.
	megabytes, seconds float64
	// complaint: it did not look everywhere, and says why.
	complaint string
}

// parse reads the output of a search.
func parse(out string) report {
	var r report
	number := func(line, pattern string) (float64, bool) {
		m := regexp.MustCompile(pattern).FindStringSubmatch(line)
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseFloat(m[1], 64)
		return n, err == nil
	}
	lines := bufio.NewScanner(strings.NewReader(out))
	for lines.Scan() {
		line := lines.Text()
		if n, ok := number(line, `errors: (\d+)`); ok {
			r.errors, r.finished = int(n), true
		}
		if n, ok := number(line, `depth reached (\d+)`); ok {
			r.depth = int(n)
		}
		if n, ok := number(line, `^\s*(\d+) states, stored`); ok {
			r.states = int(n)
		}
		if n, ok := number(line, `^\s*([\d.]+)\s+total actual memory usage`); ok {
			r.megabytes = n
		}
		if n, ok := number(line, `elapsed time ([\d.]+) seconds`); ok {
			r.seconds = n
		}
		if r.complaint == "" && incomplete(line) {
			r.complaint = strings.TrimSpace(line)
		}
	}
	return r
}

// incomplete tells whether a line says that something was not looked at.
func incomplete(line string) bool {
	for _, sign := range []string{"max search depth too small", "Search not completed", "out of memory", "MEMLIM",
		"hash table full", "memory exhausted", "search terminated", "aborting", "Killed"} {
		if strings.Contains(line, sign) {
			return true
		}
	}
	return false
}

// isFinding tells whether a line of a replay is a claim or a trap of the model.
func isFinding(line string) bool {
	return strings.HasPrefix(line, "violated: ") || strings.HasPrefix(line, "reached: ")
}

// steps are the model's own words in a replay, up to what was found.
func steps(replay string) []string {
	var words []string
	for line := range strings.Lines(replay) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "pan:") || strings.HasPrefix(line, "spin:") {
			break
		}
		if line != "" {
			words = append(words, line)
		}
		if isFinding(line) {
			break
		}
	}
	return words
}

// printSteps prints them with the tick in which they happen.
func printSteps(out io.Writer, steps []string) {
	tick := 0
	for _, s := range steps {
		if s == "tick" {
			tick++
			continue
		}
		fmt.Fprintf(out, "tick %d  %s\n", tick, s)
	}
}
