//go:build unix

package runcmd_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cli"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// inProcess runs elect in this process, on an election that the test can take part in.
func inProcess(ctx context.Context, t *testing.T, args ...string) (opener *stores.Opener, stderr *output, code <-chan int) {
	t.Helper()
	t.Setenv(role, "elect") // for the guard
	opener, stderr = new(stores.Opener), new(output)
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(ctx, append([]string{"run", "--store", "mem://x"}, args...), &cliutil.Env{
			Stdout: os.Stdout, Stderr: stderr, Stores: opener, Executable: os.Args[0],
		})
	}()
	return opener, stderr, done
}

func TestInMemory(t *testing.T) {
	opener, stderr, code := inProcess(t.Context(), t, "--", "sh", "-c", "exit 3")
	if got := <-code; got != 3 || stderr.String() != "" {
		t.Errorf("exit code %d, stderr %q", got, stderr.String())
	}
	if e, ok := opener.Memory("x").Stored(); !ok || !e.Vacant() || e.FencingToken != 1 {
		t.Errorf("stored: %+v", e)
	}
}

// The end of the context is like SIGTERM.
func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pulse := newPulse(t)
	opener, _, code := inProcess(ctx, t, "--grace", "100ms", "--", os.Args[0], "beat", pulse.file)
	pulse.begin()
	cancel()
	if got := <-code; got != 128+9 {
		t.Errorf("exit code %d, want 137", got)
	}
	pulse.end()
	if e, _ := opener.Memory("x").Stored(); !e.Vacant() {
		t.Errorf("%s still leads", e.LeaderID)
	}
}

// A write of somebody else, right after the win, is noticed at the next renewal.
func TestReplaced(t *testing.T) {
	pulse := newPulse(t)
	opener, stderr, code := inProcess(t.Context(), t, "--renew", "50ms", "--grace", "100ms", "--", os.Args[0], "beat", pulse.file)
	pulse.begin()
	opener.Memory("x").Lead("usurper", time.Hour)
	if got := <-code; got != cliutil.ExitLost {
		t.Errorf("exit code %d, stderr %q", got, stderr.String())
	}
	pulse.end()
	if e, _ := opener.Memory("x").Stored(); e.LeaderID != "usurper" {
		t.Errorf("stored: %+v", e)
	}
}

// An entry that cannot be read blocks the election, and the candidate says so.
func TestBadEntry(t *testing.T) {
	opener := new(stores.Opener)
	opener.Memory("x").PlantRaw([]byte("rubbish"))
	var stderr output
	code := cli.Main(t.Context(), []string{"run", "--store", "mem://x", "--once", "--", "true"},
		&cliutil.Env{Stdout: os.Stdout, Stderr: &stderr, Stores: opener, Executable: os.Args[0]})
	if code != cliutil.ExitBroken {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}
