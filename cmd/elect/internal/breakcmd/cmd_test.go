package breakcmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// world is one election on a memory store with a clock, and elect beside it.
type world struct {
	opener *stores.Opener
	*memory.Decider
}

func newWorld() world {
	o := new(stores.Opener)
	w := world{o, o.Memory("test")}
	w.SetClock(clocks.DefaultClock())
	return w
}

// run runs `elect break --store mem://test` with more args.
func (w world) run(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: w.opener})
	cmd.SetArgs(append([]string{"--store", "mem://test"}, args...))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func (w world) stored(t *testing.T) entry.RaceEntry {
	t.Helper()
	e, ok := w.Stored()
	if !ok {
		t.Fatal("nothing that can be read is stored")
	}
	return e
}

func TestBreakWritesAReignOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		old := w.Lead("w1", 10*time.Second)
		old.Checkpoint, old.HostPort, old.ConnectionParams = []byte("cursor"), []string{"h:1"}, []byte("p")
		w.Plant(old)
		time.Sleep(3700 * time.Millisecond)

		out, err := w.run(t, "--fencing-token", "946684800", "--json")
		if err != nil {
			t.Fatal(err)
		}
		e := w.stored(t)
		if !strings.HasPrefix(e.LeaderID, "elect break by ") || !strings.Contains(e.LeaderID, "@") || !e.Held {
			t.Errorf("leader %q, held %v; want an operator's name, held", e.LeaderID, e.Held)
		}
		if e.FencingToken != old.FencingToken+1 || e.ElectionNumber != old.ElectionNumber+1 || e.TermLength != old.TermLength {
			t.Errorf("fencing token %d, election number %d, term %v; want %d, %d, %v", e.FencingToken, e.ElectionNumber,
				e.TermLength, old.FencingToken+1, old.ElectionNumber+1, old.TermLength)
		}
		if e.Nonce == old.Nonce || e.Nonce == "" || string(e.Checkpoint) != "cursor" || e.HostPort != nil || e.ConnectionParams != nil {
			t.Errorf("written: %+v; want a fresh nonce, the old checkpoint, no address", e)
		}
		// The Date was 3 s, its truth 3.7 s: SentBy must not be below the truth.
		if want := time.Date(2000, 1, 1, 0, 0, 4, 0, time.UTC); !e.SentBy.Equal(want) || !e.TermExpiry.Equal(want.Add(10*time.Second)) {
			t.Errorf("SentBy %v, TermExpiry %v; want %v and 10 s more", e.SentBy, e.TermExpiry, want)
		}
		want := `{"store":"mem://test","action":"ended","previous_leader_id":"w1","previous_fencing_token":946684800,"previous_version":"v2",` +
			`"leader_id":"` + e.LeaderID + `","fencing_token":946684801,"election_number":1,"version":"v3",` +
			`"next_leader_in_ms":10500,"next_leader_at":"2000-01-01T00:00:14.2Z"}` + "\n"
		if out != want {
			t.Errorf("printed\n%swant\n%s", out, want)
		}
	})
}

func TestNowWritesAVacantEntry(t *testing.T) {
	w := newWorld()
	old := w.Lead("w1", 10*time.Second)
	old.Checkpoint, old.HostPort = []byte("cursor"), []string{"h:1"}
	w.Plant(old)
	out, err := w.run(t, "--now", "--json", "--fencing-token", itoa(old.FencingToken))
	if err != nil {
		t.Fatal(err)
	}
	e := w.stored(t)
	if !e.Vacant() || e.Held || e.HostPort != nil || e.FencingToken != old.FencingToken ||
		e.ElectionNumber != old.ElectionNumber+1 || string(e.Checkpoint) != "cursor" {
		t.Errorf("written: %+v; want the end of the same reign, with its checkpoint", e)
	}
	var r result
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Action != "vacated" || r.NextLeaderInMS != 0 {
		t.Errorf("printed %s (%v), want vacated, and the next leader at once", out, err)
	}
}

func TestTextSaysWhatWasDoneAndWhenTheNextCanCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Lead("w1", 10*time.Second)
		out, err := w.run(t, "--fencing-token", "946684800")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"ended            the reign of w1 with fencing token 946684800", "not before about 10.5 s from now",
			"when the old one must have noticed; at once: elect break --store mem://test --now --fencing-token 946684801"} {
			if !strings.Contains(out, want) {
				t.Errorf("printed\n%swithout %q", out, want)
			}
		}
		out, err = w.run(t, "--now", "--fencing-token", "946684801")
		if err != nil || !strings.Contains(out, "next leader      at once") {
			t.Errorf("--now printed\n%s(%v), want: at once", out, err)
		}
	})
}

// What MinHold keeps closed has no leader that would have to notice anything.
func TestAHoldIsNoReign(t *testing.T) {
	for name, c := range map[string]struct {
		holder, says string
		args         []string
	}{
		"a reign that is done":          {"w1", "for the election is held anew, though the old reign was done before", nil},
		"a reign that is done, --now":   {"w1", "at once; the reign that held the election closed was done before", []string{"--now"}},
		"after another break":           {operatorMark + "x@y", "when the old one must have noticed", nil},
		"after another break and --now": {operatorMark + "x@y", "the old one may go on until", []string{"--now"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				e := w.Lead(c.holder, 10*time.Second)
				e.Held = true
				w.Plant(e)
				out, err := w.run(t, append([]string{"--fencing-token", "946684800"}, c.args...)...)
				if err != nil || !strings.Contains(out, "the hold of ") || !strings.Contains(out, c.says) || strings.Contains(out, "the reign of") {
					t.Errorf("printed\n%s(%v), want it to say %q", out, err, c.says)
				}
			})
		})
	}
}

// Nobody replaces by mistake what a newer program has written.
func TestANewerEntry(t *testing.T) {
	newer := []byte(`{"cloudelect": 2}`)
	w := newWorld()
	w.PlantRaw(newer)
	for _, args := range [][]string{{"--corrupt", "--version", "v1"}, {"--fencing-token", "1"}} {
		_, err := w.run(t, args...)
		if cliutil.CodeOf(err) != statuscmd.ExitBadEntry || !strings.Contains(err.Error(), "do not break it") || strings.Contains(err.Error(), "elect break --store") {
			t.Errorf("%v: %v, want a refusal", args, err)
		}
	}
	if !bytes.Equal(w.Raw(), newer) {
		t.Fatal("it was overwritten")
	}
	if out, err := w.run(t, "--corrupt", "--force-newer", "--version", "v1"); err != nil {
		t.Errorf("--force-newer: %v\n%s", err, out)
	}
	if !w.stored(t).Held {
		t.Error("--force-newer wrote no held entry")
	}
}

func TestCorruptReplacesWhatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		name     string
		noClock  bool
		args     []string
		token    int64
		term     time.Duration
		vacant   bool
		leaderIn int64
	}{
		{"by the store's time", false, nil, 946684801, time.Minute, false, 63000},
		{"a lower token changes nothing", false, []string{"--fencing-token", "7"}, 946684801, time.Minute, false, 63000},
		{"a higher token counts", false, []string{"--fencing-token", "2000000000"}, 2000000001, time.Minute, false, 63000},
		{"without a store's time", true, []string{"--fencing-token", "7"}, 8, time.Minute, false, 63000},
		{"another term", false, []string{"--term", "10s"}, 946684801, 10 * time.Second, false, 10500},
		{"at once", false, []string{"--now"}, 946684801, time.Minute, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				if c.noClock {
					w.SetClock(nil)
				}
				w.PlantRaw([]byte("rubbish"))
				out, err := w.run(t, append([]string{"--corrupt", "--version", "v1", "--json"}, c.args...)...)
				if err != nil {
					t.Fatal(err)
				}
				e := w.stored(t)
				if e.FencingToken != c.token || e.TermLength != c.term || e.Vacant() != c.vacant || e.Held == c.vacant {
					t.Errorf("written: %+v; want token %d, term %v, vacant %v", e, c.token, c.term, c.vacant)
				}
				var r result
				if err := json.Unmarshal([]byte(out), &r); err != nil {
					t.Fatal(err)
				}
				if r.Action != "replaced" || r.PreviousVersion != "v1" || r.PreviousFencingToken != nil || r.NextLeaderInMS != c.leaderIn {
					t.Errorf("printed %s, want replaced, and the next leader in %d ms", out, c.leaderIn)
				}
			})
		})
	}
}

// What is stored must be what the operator has seen: else nothing is written.
func TestRefusals(t *testing.T) {
	lead := func(w world) { w.Lead("w1", 10*time.Second) }
	for _, c := range []struct {
		name    string
		prepare func(world)
		args    []string
		code    int
		says    string
	}{
		{"another fencing token", lead, []string{"--fencing-token", "946684799"}, ExitChanged, "is 946684800 now, not 946684799"},
		{"another version", lead, []string{"--fencing-token", "946684800", "--version", "v9"}, ExitChanged, "version v1 is stored now, not v9"},
		{"vacant already", func(w world) { e := w.Lead("w1", time.Second); e.LeaderID = ""; w.Plant(e) },
			[]string{"--fencing-token", "946684800"}, ExitChanged, "nobody leads"},
		{"absent", func(world) {}, []string{"--fencing-token", "1"}, ExitChanged, "nothing is stored"},
		{"absent, corrupt", func(world) {}, []string{"--corrupt", "--version", "v1"}, ExitChanged, "nothing is stored"},
		{"corrupt, but it decodes", lead, []string{"--corrupt", "--version", "v1"}, ExitChanged, "not corrupt"},
		{"corrupt, another version", func(w world) { w.PlantRaw([]byte("x")) }, []string{"--corrupt", "--version", "v2"}, ExitChanged, "version v1 is stored now, not v2"},
		{"corrupt, not said", func(w world) { w.PlantRaw([]byte("x")) }, []string{"--fencing-token", "1"}, statuscmd.ExitBadEntry, "--corrupt --version v1"},
		{"corrupt, no time, no token", func(w world) { w.SetClock(nil); w.PlantRaw([]byte("x")) }, []string{"--corrupt", "--version", "v1"}, cliutil.ExitUsage, "give --fencing-token"},
		{"a version alone", lead, []string{"--version", "v1"}, cliutil.ExitUsage, "give --fencing-token 946684800 as well"},
		{"a term and a version for an entry that has one", lead, []string{"--fencing-token", "946684800", "--version", "v1", "--term", "1s"}, cliutil.ExitUsage, "leave --term out"},
		{"no token", lead, nil, cliutil.ExitUsage, "--fencing-token is missing"},
		{"negative token", lead, []string{"--fencing-token", "-1"}, cliutil.ExitUsage, "out of range"},
		{"huge token", lead, []string{"--fencing-token", "9223372036854775807"}, cliutil.ExitUsage, "out of range"},
		{"no version", lead, []string{"--corrupt"}, cliutil.ExitUsage, "needs --version"},
		{"a term for an entry that has one", lead, []string{"--fencing-token", "946684800", "--term", "1s"}, cliutil.ExitUsage, "--term is for --corrupt"},
		{"a term that nobody waits for", lead, []string{"--corrupt", "--version", "v1", "--now", "--term", "1s"}, cliutil.ExitUsage, "contradict"},
		{"newer, not corrupt", lead, []string{"--fencing-token", "946684800", "--force-newer"}, cliutil.ExitUsage, "--force-newer is for --corrupt"},
		{"no term", lead, []string{"--corrupt", "--version", "v1", "--term", "0s"}, cliutil.ExitUsage, "out of range"},
		{"endless term", lead, []string{"--corrupt", "--version", "v1", "--term", "1000000h"}, cliutil.ExitUsage, "out of range"},
		{"no timeout", lead, []string{"--fencing-token", "1", "--timeout", "0s"}, cliutil.ExitUsage, "positive"},
		{"an argument", lead, []string{"946684800"}, cliutil.ExitUsage, "no arguments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				c.prepare(w)
				out, err := w.run(t, c.args...)
				if got := cliutil.CodeOf(err); got != c.code || err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("code %d, error %v; want %d and %q", got, err, c.code, c.says)
				}
				if _, writes := w.Requests(); writes != 0 || out != "" {
					t.Errorf("%d writes, printed %q; want none", writes, out)
				}
			})
		})
	}
}

func itoa(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}
