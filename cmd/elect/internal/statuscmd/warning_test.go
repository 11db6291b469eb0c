package statuscmd

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/memory"
)

// The time left of an entry with a time that nobody's clock will show never ends.
func TestTimesThatNoClockWillShow(t *testing.T) {
	far := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		prepare func(*memory.Decider)
		says    string // "": nothing
	}{
		"sent_by": {func(d *memory.Decider) {
			d.SetClock(clocks.DefaultClock())
			e := d.Lead("w1", 15*time.Second)
			e.SentBy = far
			d.Plant(e)
		}, "sent_by is "},
		"term_expiry": {func(d *memory.Decider) {
			e := d.Lead("w1", 15*time.Second)
			e.TermExpiry = far
			d.Plant(e)
		}, "term_expiry is "},
		"term_expiry, where the store's time decides": {func(d *memory.Decider) {
			d.SetClock(clocks.DefaultClock())
			e := d.Lead("w1", 15*time.Second)
			e.TermExpiry = far
			d.Plant(e)
		}, ""},
		"a clock that is fast by half a minute": {func(d *memory.Decider) {
			e := d.Lead("w1", 15*time.Second)
			e.TermExpiry = e.TermExpiry.Add(30 * time.Second)
			d.Plant(e)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, form := range []struct{ flag, mark string }{{"--json", `"warning":"`}, {"--json=false", "warning          "}} {
				out, err := run(t, c.prepare, "--store", "mem://test", form.flag)
				if err != nil {
					t.Fatal(err)
				}
				want := form.mark + c.says
				if strings.Contains(out, want) != (c.says != "") {
					t.Errorf("printed\n%swant it to contain %q: %v", out, want, c.says != "")
				}
				if c.says != "" && !strings.Contains(out, "elect break --store mem://test --fencing-token ") {
					t.Errorf("printed\n%swithout the way out", out)
				}
			}
		})
	}
}

// An entry of a newer program may be somebody's reign.
func TestANewerEntryIsNotToBeBroken(t *testing.T) {
	newer := func(d *memory.Decider) { d.PlantRaw([]byte(`{"cloudelect": 2}`)) }
	out, err := run(t, newer, "--store", "mem://test", "--json")
	if !strings.Contains(out, `"newer":true`) || strings.Contains(out, "elect break") {
		t.Errorf("printed %s", out)
	}
	if err == nil || strings.Contains(err.Error(), "elect break") || !strings.Contains(err.Error(), "do not break it") || !strings.Contains(err.Error(), "update it") {
		t.Errorf("error %v, want: update, do not break", err)
	}
}

// Whoever chooses a name cannot go on with the sentence that it is printed in.
func TestSafe(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, want := range map[string]string{
		"w1": "w1", "host-1.2345:é": "host-1.2345:é", "": `""`, "a b": `"a b"`, "a\nb": `"a\nb"`, "a\x1b[2J": `"a\x1b[2J"`,
		`say "x"`: `"say \"x\""`, "\xff": `"\xff"`, long: `"` + long[:longest] + `"...`,
	} {
		if got := Safe(name); got != want {
			t.Errorf("Safe(%.20q) = %s, want %s", name, got, want)
		}
	}
	s := State{HostPort: []string{"a:1", "b:2\n", "c:3", "d:4", "e:5", "f:6"}}
	if got, want := s.Places(), `a:1, "b:2\n", c:3, d:4, 2 more`; got != want {
		t.Errorf("Places() = %s, want %s", got, want)
	}
}

// A decider does not know the options of the URL that was typed.
func TestAdviceHasTheWholeURL(t *testing.T) {
	const url = "s3://b/k?endpoint=http://h:1"
	s := State{Store: url, Version: `"e"`, Error: complete(url, `"e"`, "s3decider: s3://b/k: x: bad entry"+advice+"--store 's3://b/k' --corrupt --version '\"e\"'")}
	want := `s3decider: s3://b/k: x: bad entry` + advice + `--store 's3://b/k?endpoint=http://h:1' --corrupt --version '"e"'`
	if got := BadAdvice(s).Error(); got != want {
		t.Errorf("advice\n%s\nwant\n%s", got, want)
	}
}

// A State of another library's entry keeps its pointers for those that read them here,
// and names no fencing token to anybody.
func TestForeignState(t *testing.T) {
	token, left := int64(0), int64(5000)
	s := State{Store: "mem://test", State: Leading, LeaderID: "old-1", Foreign: "peer/library", FencingToken: &token, TermMS: &token, TimeLeftMS: &left}
	for _, v := range []any{s, &s} {
		if b, err := json.Marshal(v); err != nil || strings.Contains(string(b), "fencing_token") || strings.Contains(string(b), "term_ms") || !strings.Contains(string(b), `"foreign":"peer/library"`) {
			t.Errorf("%s, %v", b, err)
		}
	}
	if s.FencingToken == nil || s.TermMS == nil {
		t.Error("printing changed the state")
	}
	if text := s.Unseen(time.Now(), time.Second, errors.New("503")).before; !strings.HasPrefix(text, "old-1 led by an entry of peer/library until about ") {
		t.Errorf("unseen: %s", text)
	}
}
