package deploy_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// guide takes the blocks marked `sh run` out of a page, and the lines that the
// blocks marked `text` say are printed.
func guide(page string) (script string, prints []string) {
	var b strings.Builder
	kind := ""
	for line := range strings.Lines(page) {
		trimmed := strings.TrimSpace(line)
		switch mark, fenced := strings.CutPrefix(trimmed, "```"); {
		case fenced && kind == "":
			kind = mark
			if kind == "" {
				kind = "other"
			}
		case fenced:
			kind = ""
		case kind == "sh run":
			b.WriteString(line)
		case kind == "text":
			prints = append(prints, trimmed)
		}
	}
	return b.String(), prints
}

// What DEPLOY.md tells to run here is run, in a copy of nothing: in this tree, against
// the emulators, in one shell, and prints what the page says.
func TestGuide(t *testing.T) {
	on := os.Getenv(switched)
	if on == "" {
		t.Skip("runs docs/DEPLOY.md: run make test-functions")
	}
	for _, tool := range []string{"sh", "curl", "go"} {
		if _, err := exec.LookPath(tool); err != nil && on == "require" {
			t.Fatal(err)
		} else if err != nil {
			t.Skipf("*** NOT TESTED: docs/DEPLOY.md: %v", err)
		}
	}
	script, prints := guide(string(read(t, "docs/DEPLOY.md")))
	if !strings.Contains(script, "aws-lambda-rie") || len(prints) < 5 {
		t.Fatalf("the page has lost its blocks: %q, %q", script, prints)
	}
	ctx := t.Context()
	if deadline, ok := t.Deadline(); ok { // the only one there is: a machine may be slow
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-30*time.Second))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, "sh", "-eu")
	// Where a command fails, what the page has put into the background must end, too.
	cmd.Stdin = strings.NewReader("trap 'test $? = 0 || kill ${sandbox-} ${stores-}' EXIT\n" + script)
	cmd.Dir, cmd.WaitDelay = root, 10*time.Second
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(root, "build", "rie.log"))
		t.Fatalf("%v\n%s\nthe emulator printed\n%s", err, out, log)
	}
	rest := string(out)
	for _, want := range prints {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\.\.\.`, ".*")
		found := regexp.MustCompile("(?m)^" + pattern + "$").FindStringIndex(rest)
		if found == nil {
			t.Fatalf("it does not print %q in its place; all of it:\n%s", want, out)
		}
		rest = rest[found[1]:]
	}
}
