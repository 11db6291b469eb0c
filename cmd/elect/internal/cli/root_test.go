package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cli"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/hostclock"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// elect runs a command line in this process.
func elect(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Main(t.Context(), args, &cliutil.Env{Stdout: &out, Stderr: &err, Stores: new(stores.Opener)})
	return code, out.String(), err.String()
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	var visit func(cmd *cobra.Command, args []string)
	visit = func(cmd *cobra.Command, args []string) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		if !strings.Contains(cmd.Example, "elect ") || cmd.Short == "" {
			t.Errorf("%v: no example, or no short description", cmd.CommandPath())
		}
		code, out, stderr := elect(t, append(args, "--help")...)
		if code != 0 || stderr != "" || !strings.Contains(out, "Examples:") {
			t.Errorf("%v --help: exit code %d, stderr %q, stdout %q", cmd.CommandPath(), code, stderr, out)
		}
		for _, c := range cmd.Commands() {
			visit(c, append(append([]string(nil), args...), c.Name()))
		}
	}
	visit(cli.New(&cliutil.Env{}), nil)
}

func TestWithoutArgumentsThereIsHelp(t *testing.T) {
	if code, out, stderr := elect(t); code != 0 || !strings.Contains(out, "run") || stderr != "" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, stderr)
	}
}

// A wrong command line is answered by one line that says what to do, and by
// nothing else.
func TestUsageErrors(t *testing.T) {
	const url = "mem://x"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"bogus"}, "no command"},
		{[]string{"--bogus"}, "unknown flag"},
		{[]string{"run"}, "COMMAND"},
		{[]string{"run", "--bogus"}, "unknown flag"},
		{[]string{"run", "--", "true"}, "--store"},
		{[]string{"run", "--store", url}, "COMMAND"},
		{[]string{"run", "--store", url, "--"}, "COMMAND"},
		{[]string{"run", "--store", url, "--", ""}, "COMMAND"},
		{[]string{"run", "--store", "", "--", "true"}, "--store"},
		{[]string{"run", "--store", "gs://", "--", "true"}, "gs://BUCKET/OBJECT"},
		{[]string{"run", "--store", "s3://bkt/", "--", "true"}, "names no key"},
		{[]string{"status", "--store", "dynamodb://elections"}, "dynamodb://TABLE/ELECTION"},
		{[]string{"init", "--store", "s3://bkt/k?regoin=x"}, "s3://BUCKET/KEY"},
		{[]string{"emulate", "--only", "azure"}, "gcs,s3,dynamodb"},
		{[]string{"run", "--store", url, "--id", " ", "--", "true"}, "--id"},
		{[]string{"run", "--store", url, "--once", "--wait", "1s", "--", "true"}, "exclude"},
		{[]string{"run", "--store", url, "--term", "5", "--", "true"}, "like 30s"},
		{[]string{"run", "--store", url, "--term", "-5s", "--", "true"}, "--term"},
		{[]string{"run", "--store", url, "--term", "0", "--", "true"}, "--term"},
		{[]string{"run", "--store", url, "--term", "1ns", "--", "true"}, "--term"},
		{[]string{"run", "--store", url, "--wait", "-1s", "--", "true"}, "--wait"},
		{[]string{"run", "--store", url, "--wait", "0s", "--", "true"}, "--wait"},
		{[]string{"run", "--store", url, "--min-hold", "-1s", "--", "true"}, "--min-hold"},
		{[]string{"run", "--store", url, "--poll", "-1s", "--", "true"}, "--poll"},
		{[]string{"run", "--store", url, "--renew", "-1s", "--", "true"}, "--renew"},
		{[]string{"run", "--store", url, "--renew", "14s", "--", "true"}, "--renew 14s is more than half of --term 15s"},
		{[]string{"run", "--store", url, "--grace", "-1s", "--", "true"}, "--grace"},
		{[]string{"__guard"}, "not a command"},
	} {
		code, out, stderr := elect(t, c.args...)
		if code != cliutil.ExitUsage || out != "" || strings.Count(stderr, "\n") != 1 ||
			!strings.HasPrefix(stderr, "elect: ") || !strings.Contains(stderr, c.says) {
			t.Errorf("elect %q: exit code %d, stdout %q, stderr %q; want 64 and one line that says %q", c.args, code, out, stderr, c.says)
		}
	}
}

// A clock that cannot be set as the environment says is found out before anything is
// asked of a store. Ordinary builds do not look.
func TestChaosClock(t *testing.T) {
	t.Setenv(hostclock.OffsetVar, "soon")
	code, out, stderr := elect(t, "status", "--store", "mem://x")
	if _, err := hostclock.New(); err == nil {
		if code != 0 || stderr != "" {
			t.Errorf("an ordinary build: exit code %d, stderr %q", code, stderr)
		}
		return
	}
	if code != cliutil.ExitUsage || out != "" || !strings.Contains(stderr, hostclock.OffsetVar) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, stdout %q, stderr %q; want 64 and a line about %s", code, out, stderr, hostclock.OffsetVar)
	}
}
