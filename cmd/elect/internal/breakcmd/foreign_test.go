package breakcmd

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// foreignWorld is a bucket whose object "x" holds an entry of vimeo/leaderelection.
type foreignWorld struct {
	*gcs.Server
	url string
}

func newForeignWorld(t *testing.T) *foreignWorld {
	t.Helper()
	server, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.Endpoint())
	return &foreignWorld{server, "gs://elections/x"}
}

// lead stores a write of that library's leader, and returns its generation.
func (w *foreignWorld) lead(t *testing.T, leader string, number uint64, expiry time.Time) string {
	t.Helper()
	body := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), number)
	body = protowire.AppendString(protowire.AppendTag(body, 2, protowire.BytesType), leader)
	stamp := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(expiry.Unix()))
	body = protowire.AppendBytes(protowire.AppendTag(body, 4, protowire.BytesType), stamp)
	if err := w.Plant("elections", "x", body); err != nil {
		t.Fatal(err)
	}
	return w.generation(t)
}

func (w *foreignWorld) generation(t *testing.T) string {
	t.Helper()
	_, g, err := w.Contents("elections", "x")
	if err != nil {
		t.Fatal(err)
	}
	return itoa(g)
}

func (w *foreignWorld) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// breaks runs elect break on the election.
func (w *foreignWorld) breaks(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return w.run(t, append([]string{"--store", w.url}, args...)...)
}

// runsAsPrinted runs the command that text ends with, as a shell takes it apart.
func (w *foreignWorld) runsAsPrinted(t *testing.T, text string) error {
	t.Helper()
	_, line, ok := strings.Cut(strings.TrimSpace(text), "elect break ")
	if !ok {
		t.Fatalf("%q has no command", text)
	}
	words, err := exec.Command("sh", "-c", `printf '%s\n' `+line).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.run(t, strings.Fields(string(words))...)
	return err
}

func (w *foreignWorld) status(t *testing.T, args ...string) (string, statuscmd.State) {
	t.Helper()
	var out bytes.Buffer
	cmd := statuscmd.New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
	cmd.SetArgs(append([]string{"--store", w.url}, args...))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	var st statuscmd.State
	_ = json.Unmarshal(out.Bytes(), &st) // the text is none
	return out.String(), st
}

func (w *foreignWorld) stored(t *testing.T) *entry.RaceEntry {
	t.Helper()
	body, _, err := w.Contents("elections", "x")
	if err != nil {
		t.Fatal(err)
	}
	e, err := entry.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const noClock = "the form of vimeo/leaderelection does not tell the writer's clock"

// TestStatusOfAForeignEntry: it is shown as one, without what it does not say.
func TestStatusOfAForeignEntry(t *testing.T) {
	w := newForeignWorld(t)
	w.lead(t, "old-1", 41, time.Now().Add(time.Hour))
	text, _ := w.status(t)
	for _, want := range []string{"leading", "old-1", "vimeo/leaderelection, which has no fencing tokens", "election number  41", "by the writer's clock", noClock} {
		if strings.Count(text, want) != 1 {
			t.Errorf("status printed\n%swithout %q, once", text, want)
		}
	}
	line, st := w.status(t, "--json")
	if st.Foreign != "vimeo/leaderelection" || st.State != statuscmd.Leading || st.LeaderID != "old-1" || st.Warning != noClock ||
		st.TermMS == nil || strings.Contains(line, "fencing_token") {
		t.Errorf("printed %s", line)
	}
	w.lead(t, "old-1", 42, time.Now().Add(-time.Hour))
	if line, st := w.status(t, "--json"); st.State != statuscmd.Expired || strings.Contains(line, "term_ms") || strings.Contains(line, "fencing_token") {
		t.Errorf("printed %s; want neither term_ms nor fencing_token", line)
	}
}

// TestBreakNamesAForeignEntryByItsVersion: all of them have the fencing token 0, so it
// names none of them.
func TestBreakNamesAForeignEntryByItsVersion(t *testing.T) {
	w := newForeignWorld(t)
	begin := time.Now()
	seen := w.lead(t, "old-1", 41, begin.Add(30*time.Second))
	other := w.lead(t, "old-2", 42, begin.Add(30*time.Second))
	_, advice := w.breaks(t, "--fencing-token", "0")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--fencing-token", "0"}, cliutil.ExitUsage, "elect break --store 'gs://elections/x' --version " + other},
		{[]string{"--fencing-token", "7", "--now"}, cliutil.ExitUsage, "--version " + other + " --now"},
		{[]string{"--version", seen}, ExitChanged, "version " + other + " is stored now"},
		{[]string{"--version", seen, "--fencing-token", "0"}, ExitChanged, "version " + other + " is stored now"},
		{[]string{"--corrupt", "--version", other}, ExitChanged, "an entry of vimeo/leaderelection and not corrupt"},
		{nil, cliutil.ExitUsage, "--fencing-token is missing"},
	} {
		_, err := w.breaks(t, c.args...)
		says := strings.ReplaceAll(c.says, "'gs://elections/x'", cliutil.ShellWord(w.url))
		if cliutil.CodeOf(err) != c.code || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: code %d, %v; want %d, %q", c.args, cliutil.CodeOf(err), err, c.code, says)
		}
	}
	if w.generation(t) != other {
		t.Fatal("something was written")
	}
	if err := w.runsAsPrinted(t, advice.Error()); err != nil {
		t.Fatalf("%v\nafter %v", err, advice)
	}
	if e := w.stored(t); !e.Held || e.FencingToken < begin.Unix() || e.ElectionNumber != 43 || e.TermLength != time.Minute {
		t.Errorf("written: %+v", e)
	}
}

// TestBreakSaysWhatBecomesOfAForeignEntry in both forms.
func TestBreakSaysWhatBecomesOfAForeignEntry(t *testing.T) {
	w := newForeignWorld(t)
	version := w.lead(t, "old-1", 41, time.Now().Add(10*time.Second))
	out, err := w.breaks(t, "--version", version)
	for _, want := range []string{"the reign of old-1 by version " + version + ", an entry of vimeo/leaderelection",
		"JSON now, which candidates of vimeo/leaderelection cannot read"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%v, printed\n%swithout %q", err, out, want)
		}
	}
	version = w.lead(t, "old-1", 43, time.Now().Add(10*time.Second))
	out, err = w.breaks(t, "--version", version, "--now", "--json")
	if err != nil || !strings.Contains(out, `"previous_foreign":"vimeo/leaderelection"`) || strings.Contains(out, "previous_fencing_token") {
		t.Errorf("%v, printed %s", err, out)
	}
	if e := w.stored(t); !e.Vacant() || e.ElectionNumber != 44 {
		t.Errorf("written: %+v", e)
	}
}

// TestForeignTerms: what is left of a foreign term may be a mistake, or what its leader
// leads for. Only the operator knows.
func TestForeignTerms(t *testing.T) {
	for name, c := range map[string]struct {
		left time.Duration
		args []string
		term time.Duration // written; 0: refused
	}{
		"not longer than the default":      {50 * time.Second, nil, time.Minute},
		"over":                             {-time.Hour, nil, time.Minute},
		"longer":                           {3 * time.Hour, nil, 0},
		"longer, with a term":              {3 * time.Hour, []string{"--term", "15s"}, 15 * time.Second},
		"longer, with a long term":         {3 * time.Hour, []string{"--term", "4h"}, 4 * time.Hour},
		"longer, but nobody waits":         {3 * time.Hour, []string{"--now"}, time.Minute},
		"not longer, with a shorter one":   {50 * time.Second, []string{"--term", "15s"}, 15 * time.Second},
		"longer, with a floor for a token": {3 * time.Hour, []string{"--term", "15s", "--fencing-token", "4000000000"}, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newForeignWorld(t)
			version := w.lead(t, "old-1", 41, time.Now().Add(c.left))
			_, err := w.breaks(t, append([]string{"--version", version}, c.args...)...)
			if c.term == 0 {
				if cliutil.CodeOf(err) != cliutil.ExitUsage || !strings.Contains(err.Error(), "--term") || w.generation(t) != version {
					t.Errorf("%v; want a usage error about --term, and nothing written", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if e := w.stored(t); e.TermLength != c.term || strings.Contains(name, "floor") != (e.FencingToken == 4000000001) {
				t.Errorf("written: %+v; want the term %v", e, c.term)
			}
		})
	}
}

// TestRemedyForAFarExpiry: what status advises runs, and frees the election.
func TestRemedyForAFarExpiry(t *testing.T) {
	w := newForeignWorld(t)
	w.lead(t, "old-1", 41, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	_, st := w.status(t, "--json")
	if !strings.HasPrefix(st.Warning, noClock+"; term_expiry is ") {
		t.Fatalf("warning %q", st.Warning)
	}
	if err := w.runsAsPrinted(t, st.Warning); err != nil {
		t.Fatalf("%v\nafter %s", err, st.Warning)
	}
	if e := w.stored(t); !e.Held || e.TermLength != time.Minute || e.ElectionNumber != 42 {
		t.Errorf("written: %+v; want it held for a minute", e)
	}
}
