package breakcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// On Cloud Storage a version is a generation, and the condition of the write.
func TestCorruptObjectInABucket(t *testing.T) {
	server, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", server.Endpoint())
	if err := server.Plant("elections", "x", []byte("rubbish")); err != nil {
		t.Fatal(err)
	}
	_, generation, err := server.Contents("elections", "x")
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
		cmd.SetArgs(append([]string{"--store", "gs://elections/x", "--corrupt"}, args...))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}

	if _, err := run("--version", "the newest"); cliutil.CodeOf(err) != cliutil.ExitUsage || !strings.Contains(err.Error(), "--version") {
		t.Errorf("a version that is no generation: %v, want a usage error", err)
	}
	if _, err := run("--version", itoa(generation+1)); cliutil.CodeOf(err) != ExitChanged {
		t.Errorf("another version: %v, want a refusal", err)
	}
	if content, g, _ := server.Contents("elections", "x"); g != generation || string(content) != "rubbish" {
		t.Fatalf("after refusals the object is %q, generation %d", content, g)
	}

	out, err := run("--version", itoa(generation))
	if err != nil {
		t.Fatal(err)
	}
	content, g, err := server.Contents("elections", "x")
	if err != nil {
		t.Fatal(err)
	}
	e, err := entry.Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	// The store's time bounds what tokens there can have been: generations of this
	// store are microseconds of the same clock.
	if e.FencingToken <= generation/1e6-1 || e.SentBy.IsZero() || !e.Held || !strings.Contains(out, itoa(g)) {
		t.Errorf("written %+v, printed\n%s; want a token from the store's time, SentBy, and the new version %d", e, out, g)
	}
}
