package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

func TestVersionAndHelp(t *testing.T) {
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string // contain this; "" means nothing
	}{
		{"--version", 0, "elect " + cliutil.Version() + "\n", ""},
		{"help", 0, "Usage:", ""},
		{"help run", 0, "elect run --store", ""},
		{"help --help", 0, "Usage:", ""},
		{"help completion", 0, "Usage:", ""},
		{"help bogus", 64, "", `there is no command "bogus"`},
		{"bogus", 64, "", `there is no command "bogus"`},
	} {
		var stdout, stderr bytes.Buffer
		code := run(strings.Fields(c.args), &cliutil.Env{Stdout: &stdout, Stderr: &stderr, Stores: new(stores.Opener)})
		if code != c.code || !contains(stdout.String(), c.stdout) || !contains(stderr.String(), c.stderr) {
			t.Errorf("elect %s: exit code %d, stdout %q, stderr %q; want %d, %q and %q", c.args, code, stdout.String(), stderr.String(), c.code, c.stdout, c.stderr)
		}
	}
}

func contains(text, part string) bool {
	return strings.Contains(text, part) && (part != "" || text == "")
}
