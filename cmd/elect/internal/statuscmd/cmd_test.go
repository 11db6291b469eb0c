package statuscmd

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// run runs the command on mem://test, whose world prepare has set up.
func run(t *testing.T, prepare func(*memory.Decider), args ...string) (stdout string, err error) {
	t.Helper()
	opener := new(stores.Opener)
	if prepare != nil {
		prepare(opener.Memory("test"))
	}
	var out bytes.Buffer
	cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: opener})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// worlds are the states that an election can be in. Time in a synctest bubble
// begins at midnight of 2000-01-01.
var worlds = []struct {
	name    string
	prepare func(*memory.Decider)
	json    string
	text    string
	code    int
}{
	{
		"absent", func(d *memory.Decider) { d.SetClock(clocks.DefaultClock()) },
		`{"store":"mem://test","state":"absent","store_time":"2000-01-01T00:00:00Z","clock_offset_ms":0,"local_clock":"agrees"}`,
		`mem://test
  state            absent: nothing is stored, anybody can lead at once
  clocks           the local clock agrees with the store's, to within a second
`, 0,
	},
	{
		"leading", func(d *memory.Decider) {
			d.SetClock(clocks.DefaultClock())
			e := d.Lead("w1", 15*time.Second)
			e.HostPort, e.Checkpoint, e.Nonce = []string{"10.0.0.1:80"}, []byte("cursor=15"), "n"
			d.Plant(e)
			time.Sleep(2 * time.Second)
		},
		`{"store":"mem://test","state":"leading","leader_id":"w1","host_port":["10.0.0.1:80"],"fencing_token":946684800,"election_number":0,"version":"v2",` +
			`"term_ms":15000,"term_expiry":"2000-01-01T00:00:15Z","sent_by":"2000-01-01T00:00:00Z","written_at":"2000-01-01T00:00:00Z",` +
			`"time_left_ms":13000,"time_left_by":"store","store_time":"2000-01-01T00:00:02Z","clock_offset_ms":0,"local_clock":"agrees","checkpoint":"cursor=15"}`,
		`mem://test
  state            leading
  leader           w1 at 10.0.0.1:80
  fencing token    946684800
  election number  0
  time left        13.0 s of 15.0 s, by the store's clock (to a second)
  version          v2
  checkpoint       cursor=15
  clocks           the local clock agrees with the store's, to within a second
`, 0,
	},
	{
		"expired, by the local clock, odd bytes", func(d *memory.Decider) {
			e := d.Lead("w\x1b[2J", 5*time.Second)
			e.Checkpoint = []byte{0, 255}
			d.Plant(e)
			time.Sleep(7500 * time.Millisecond)
		},
		`{"store":"mem://test","state":"expired","leader_id":"w\u001b[2J","fencing_token":1,"election_number":0,"version":"v2",` +
			`"term_ms":5000,"term_expiry":"2000-01-01T00:00:05Z","time_left_ms":-2500,"time_left_by":"local","local_clock":"unknown","checkpoint_base64":"AP8="}`,
		`mem://test
  state            expired: the term is over, and nobody has followed
  leader           "w\x1b[2J"
  fencing token    1
  election number  0
  time left        over since 2.5 s, by the clocks of the writer and of this host
  version          v2
  checkpoint       base64 AP8=
  clocks           the store told no time, so nobody knows whether the local clock is right
`, 0,
	},
	{
		"held", func(d *memory.Decider) {
			e := d.Lead("w1", 5*time.Second)
			e.Held = true
			d.Plant(e)
		},
		`{"store":"mem://test","state":"held","leader_id":"w1","fencing_token":1,"election_number":0,"version":"v2",` +
			`"term_ms":5000,"term_expiry":"2000-01-01T00:00:05Z","time_left_ms":5000,"time_left_by":"local","local_clock":"unknown"}`,
		`mem://test
  state            held: nobody leads, and nobody can until the term is over
  leader           w1
  fencing token    1
  election number  0
  time left        5.0 s of 5.0 s, by the clocks of the writer and of this host
  version          v2
  clocks           the store told no time, so nobody knows whether the local clock is right
`, 0,
	},
	{
		"vacant", func(d *memory.Decider) { d.Lead("w1", time.Second); d.Lead("", time.Second) },
		`{"store":"mem://test","state":"vacant","fencing_token":1,"election_number":1,"version":"v2","term_ms":1000,"term_expiry":"2000-01-01T00:00:01Z","local_clock":"unknown"}`,
		`mem://test
  state            vacant: the last leader resigned, anybody can lead at once
  fencing token    1
  election number  1
  version          v2
  clocks           the store told no time, so nobody knows whether the local clock is right
`, 0,
	},
	{
		"bad", func(d *memory.Decider) { d.PlantRaw([]byte("hello")) },
		`{"store":"mem://test","state":"bad","version":"v1","local_clock":"unknown","error":"memory: bad entry: not JSON of the expected form: invalid character 'h' looking for beginning of value"}`,
		`mem://test
  state            bad: what is stored is not an entry, and nobody can lead
  version          v1
  clocks           the store told no time, so nobody knows whether the local clock is right
`, ExitBadEntry,
	},
}

func TestStates(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			for _, form := range []struct{ flag, want string }{{"--json", w.json + "\n"}, {"--json=false", w.text}} {
				synctest.Test(t, func(t *testing.T) {
					out, err := run(t, w.prepare, "--store", "mem://test", form.flag)
					if out != form.want {
						t.Errorf("%s printed\n%swant\n%s", form.flag, out, form.want)
					}
					if got := cliutil.CodeOf(err); got != w.code {
						t.Errorf("exit code %d (%v), want %d", got, err, w.code)
					}
				})
			}
		})
	}
}

func TestABadEntrySaysWhatToDo(t *testing.T) {
	_, err := run(t, func(d *memory.Decider) { d.PlantRaw([]byte("{}")) }, "--store", "mem://test")
	if err == nil || !strings.Contains(err.Error(), "elect break --store mem://test --corrupt --version v1") {
		t.Errorf("error %v, want one with the command that helps", err)
	}
}

// A clock that is provably off by more than the Date's precision is reported.
func TestClockOffset(t *testing.T) {
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) time.Time { return date.Add(d) }
	for _, c := range []struct {
		sent, got, want time.Duration
	}{
		{0, time.Second, 0},
		{1500 * time.Millisecond, 2 * time.Second, 500 * time.Millisecond},
		{-3 * time.Second, -2 * time.Second, -2 * time.Second},
		{-3 * time.Second, 2 * time.Second, 0}, // a slow answer proves nothing
	} {
		s := Sight{Sent: at(c.sent), Got: at(c.got)}
		s.Entry.Token = dated{date}
		if got, ok := s.ClockOffset(); !ok || got != c.want {
			t.Errorf("request from %v to %v after Date: offset %v, %v; want %v", c.sent, c.got, got, ok, c.want)
		}
	}
	if _, ok := (Sight{}).ClockOffset(); ok {
		t.Error("an offset without a Date")
	}
}

type dated struct{ date time.Time }

func (d dated) CommitTS() time.Time  { return time.Time{} }
func (d dated) StoreDate() time.Time { return d.date }

var _ core.DatedToken = dated{}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, cliutil.ExitUsage, "--store is missing"},
		{[]string{"--store", ""}, cliutil.ExitUsage, "--store"},
		{[]string{"--store", "test"}, cliutil.ExitUsage, "no scheme"},
		{[]string{"--store", "ftp://x/y"}, cliutil.ExitUsage, "unknown scheme"},
		{[]string{"--store", "mem://test", "--timeout", "0s"}, cliutil.ExitUsage, "positive"},
		{[]string{"--store", "mem://test", "--timeout", "-1s"}, cliutil.ExitUsage, "positive"},
		{[]string{"--store", "mem://test", "more"}, cliutil.ExitUsage, "no arguments"},
	} {
		out, err := run(t, nil, c.args...)
		if got := cliutil.CodeOf(err); got != c.code || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: code %d, error %v; want %d and %q", c.args, got, err, c.code, c.says)
		}
		if out != "" {
			t.Errorf("%v printed %q", c.args, out)
		}
	}
}

// A store that does not answer is not an election without a leader.
func TestAStoreThatFails(t *testing.T) {
	d := memory.NewDecider()
	d.FailNext(1, nil)
	if _, err := Look(t.Context(), clocks.DefaultClock(), d, time.Second); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("Look = %v, want the store's error", err)
	}
	d.FailNext(1, core.ErrBroken)
	if _, err := Look(t.Context(), clocks.DefaultClock(), d, time.Second); !errors.Is(err, core.ErrBroken) {
		t.Errorf("Look = %v, want ErrBroken", err)
	}
}
