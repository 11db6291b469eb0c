package emulatecmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// start runs the command until the test ends, and returns the first lines it
// prints.
func start(t *testing.T, lines int, args ...string) []string {
	t.Helper()
	r, w := io.Pipe()
	cmd := New(&cliutil.Env{Stdout: w, Stderr: io.Discard, Stores: new(stores.Opener)})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		w.CloseWithError(err)
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("emulate ended with %v, want nil", err)
		}
	})
	var out []string
	for sc := bufio.NewScanner(r); len(out) < lines && sc.Scan(); {
		out = append(out, sc.Text())
	}
	if len(out) < lines {
		t.Fatalf("it printed %q, want %d lines", out, lines)
	}
	return out
}

// What it prints is all that elect needs to use it.
func TestElectionOnWhatItPrints(t *testing.T) {
	out := start(t, 2, "--bucket", "one", "--bucket", "two", "--bucket", "one")
	host, ok := strings.CutPrefix(out[1], "export STORAGE_EMULATOR_HOST=")
	if !ok || !strings.HasPrefix(out[0], "# ") || !strings.Contains(out[0], "one, two") {
		t.Fatalf("printed %q, want a comment with the buckets and an export line", out)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	store, err := new(stores.Opener).Open(t.Context(), "gs://two/elections/x")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	e, err := store.Decider.ReadCurrent(t.Context())
	if err != nil || !e.Absent() {
		t.Errorf("a read through the emulator = %+v, %v; want an empty bucket", e, err)
	}
}

func TestJSON(t *testing.T) {
	out := start(t, 1, "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(out[0]), &got); err != nil {
		t.Fatal(err)
	}
	host, _ := got["storage_emulator_host"].(string)
	if !strings.HasPrefix(host, "127.0.0.1:") || got["url"] != "http://"+host || len(got) != 3 {
		t.Errorf("printed %s, want storage_emulator_host, url and buckets", out[0])
	}
}

func TestBadInput(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--addr", "0.0.0.0:0"}, cliutil.ExitUsage, "not a loopback address"},
		{[]string{"--addr", ":8080"}, cliutil.ExitUsage, "not a loopback address"},
		{[]string{"--addr", "example.com:80"}, cliutil.ExitUsage, "not a loopback address"},
		{[]string{"--addr", "127.0.0.1"}, cliutil.ExitUsage, "host:port"},
		{[]string{"--addr", "127.0.0.1:99999"}, cliutil.ExitUsage, "--addr"},
		{[]string{"--addr", ""}, cliutil.ExitUsage, "empty"},
		{[]string{"--addr", taken.Addr().String()}, cliutil.ExitUnavailable, "another port"},
		{[]string{"--bucket", ""}, cliutil.ExitUsage, "--bucket"},
		{[]string{"--bucket", "a/b"}, cliutil.ExitUsage, "--bucket"},
		{[]string{"--bucket", "No"}, cliutil.ExitUsage, "--bucket"},
		{[]string{"now"}, cliutil.ExitUsage, "no arguments"},
	} {
		var out bytes.Buffer
		cmd := New(&cliutil.Env{Stdout: &out, Stderr: os.Stderr, Stores: new(stores.Opener)})
		cmd.SetArgs(c.args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		if got := cliutil.CodeOf(err); got != c.code || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: code %d, error %v; want %d and %q", c.args, got, err, c.code, c.says)
		}
		if out.Len() > 0 {
			t.Errorf("%q printed %q", c.args, &out)
		}
	}
}
