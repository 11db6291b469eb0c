package breakcmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// TestForeignEntry: an entry that vimeo/leaderelection has written is shown as one,
// and ended like one of ours, with a token above any that may have been before it.
func TestForeignEntry(t *testing.T) {
	server, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	begin := time.Now()
	body := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 41)
	body = protowire.AppendString(protowire.AppendTag(body, 2, protowire.BytesType), "old-1")
	expiry := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(begin.Add(time.Hour).Unix()))
	body = protowire.AppendBytes(protowire.AppendTag(body, 4, protowire.BytesType), expiry)
	if err := server.Plant("elections", "x", body); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", server.Endpoint())
	const url = "gs://elections/x"
	status := func(args ...string) (string, statuscmd.State) {
		t.Helper()
		var out bytes.Buffer
		cmd := statuscmd.New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
		cmd.SetArgs(append([]string{"--store", url}, args...))
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		var st statuscmd.State
		json.Unmarshal(out.Bytes(), &st)
		return out.String(), st
	}

	text, _ := status("--json=false")
	for _, want := range []string{"leading", "old-1", "vimeo/leaderelection, which has no fencing tokens", "election number  41", "by the writer's clock"} {
		if !strings.Contains(text, want) {
			t.Errorf("status printed\n%swithout %q", text, want)
		}
	}
	if _, st := status("--json"); st.Foreign != "vimeo/leaderelection" || st.State != statuscmd.Leading || st.LeaderID != "old-1" {
		t.Errorf("%+v", st)
	}

	var out bytes.Buffer
	cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
	cmd.SetArgs([]string{"--store", url, "--fencing-token", "0"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, st := status("--json")
	if st.State != statuscmd.Held || st.Foreign != "" || *st.FencingToken < begin.Unix() || *st.ElectionNumber != 42 || *st.TimeLeftMS < (50*time.Minute).Milliseconds() {
		t.Errorf("after break: %+v", st)
	}
}
