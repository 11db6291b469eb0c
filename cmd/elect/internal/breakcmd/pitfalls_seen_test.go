package breakcmd

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
)

// hashicorp/terraform#17592: force-unlock wanted the object's generation, and all
// that people were shown was the lock's ID. What `elect status` prints is what
// `elect break` takes, and it takes nothing that has changed since.
func TestPitfall_BreakTakesWhatStatusPrints(t *testing.T) {
	look := func(w world) statuscmd.State {
		t.Helper()
		var out bytes.Buffer
		cmd := statuscmd.New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: w.opener})
		cmd.SetArgs([]string{"--store", "mem://test", "--json"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		_ = cmd.ExecuteContext(t.Context()) // a bad entry is an error, too
		var s statuscmd.State
		if err := json.NewDecoder(&out).Decode(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	w := newWorld()
	w.Lead("w1", time.Minute)
	seen := look(w)
	w.Lead("w2", time.Minute) // a new reign since then
	if _, err := w.run(t, "--fencing-token", itoa(*seen.FencingToken)); err == nil {
		t.Error("a reign was ended that the operator has not seen")
	}
	if out, err := w.run(t, "--fencing-token", itoa(*look(w).FencingToken)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}

	w.PlantRaw([]byte("rubbish"))
	seen = look(w)
	w.PlantRaw([]byte("other rubbish"))
	if _, err := w.run(t, "--corrupt", "--version", seen.Version); err == nil || string(w.Raw()) != "other rubbish" {
		t.Errorf("%v: something was replaced that the operator has not seen", err)
	}
	if out, err := w.run(t, "--corrupt", "--version", look(w).Version); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if s := look(w); s.State != statuscmd.Held {
		t.Errorf("after the break: %+v", s)
	}
}
