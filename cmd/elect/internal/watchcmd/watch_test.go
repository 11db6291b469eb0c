package watchcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/screen"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// watching is a watcher on a memory store in a synctest bubble, whose time begins
// at midnight, UTC.
type watching struct {
	*memory.Decider
	watcher        *watcher
	stdout, stderr bytes.Buffer
	end            func() error
}

func watch(t *testing.T, w watcher) *watching {
	t.Helper()
	m := &watching{Decider: memory.NewDecider()}
	m.SetClock(clocks.DefaultClock())
	w.env = &cliutil.Env{Stdout: &m.stdout, Stderr: &m.stderr}
	w.screen = screen.New(&m.stdout, func(string) string { return "" })
	w.store, w.decider = "mem://test", m.Decider
	m.watcher = &w
	return m
}

// start lets the watcher run, until end is called.
func (m *watching) start(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- m.watcher.run(ctx) }()
	m.end = func() error { cancel(); return <-done }
}

// utc makes lines tell the bubble's time of day.
func utc(t *testing.T) {
	t.Helper()
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("%s:\n%swant:\n%s", what, got, want)
	}
}

// life is an election as a watcher may see it.
func life(m *watching) {
	time.Sleep(time.Second)
	e := m.Lead("w1", 4*time.Second)
	e.HostPort = []string{"h:1"}
	m.Plant(e)
	time.Sleep(3 * time.Second)
	e.ElectionNumber, e.Nonce, e.SentBy = 1, "renewed", time.Now() // a renewal
	m.Plant(e)
	time.Sleep(6 * time.Second) // its term runs out
	m.Lead("w2", 4*time.Second)
	time.Sleep(time.Second)
	m.Lead("", 4*time.Second)
	time.Sleep(time.Second)
	m.PlantRaw([]byte("rubbish"))
	time.Sleep(time.Second)
}

func TestLines(t *testing.T) {
	utc(t)
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: 300 * time.Millisecond})
		m.start(t.Context())
		life(m)
		if err := m.end(); err != nil {
			t.Errorf("watch ended with %v, want nil", err)
		}
		expect(t, "lines", m.stdout.String(), `
00:00:00  nobody leads: nothing is stored
00:00:01  w1 leads, fencing token 946684801, at h:1, 3.8 s left by the store's clock (to a second)
00:00:08  nobody leads: the term of w1 with fencing token 946684801 is over
00:00:10  w2 leads, fencing token 946684802, 3.8 s left by the store's clock (to a second)
00:00:11  nobody leads: vacant since the reign with fencing token 946684802
00:00:12  nobody can lead: mem://test: memory: bad entry: not JSON of the expected form: invalid character 'r' looking for beginning of value: look at it, and if nobody needs it: elect break --store mem://test --corrupt --version v6
`)
	})
}

func TestEveryVersion(t *testing.T) {
	utc(t)
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: 300 * time.Millisecond, verbose: true})
		m.start(t.Context())
		life(m)
		_ = m.end()
		lines := strings.Split(m.stdout.String(), "\n")
		want := "00:00:04  w1 leads, fencing token 946684801, at h:1, election number 1, 3.8 s left by the store's clock (to a second)"
		if len(lines) < 3 || lines[2] != want {
			t.Errorf("printed\n%swithout the renewal\n%s", &m.stdout, want)
		}
	})
}

func TestJSONLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: 300 * time.Millisecond, asJSON: true})
		m.start(t.Context())
		life(m)
		_ = m.end()
		var states []string
		for line := range strings.Lines(m.stdout.String()) {
			var st statuscmd.State
			if err := json.Unmarshal([]byte(line), &st); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			states = append(states, st.State)
		}
		if got, want := strings.Join(states, " "), "absent leading expired leading vacant bad"; got != want {
			t.Errorf("states %s, want %s", got, want)
		}
	})
}

// A store that fails is told of once, and asked again.
func TestAStoreThatFails(t *testing.T) {
	utc(t)
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: time.Second})
		m.start(t.Context())
		synctest.Wait()
		m.FailNext(3, errors.New("503"))
		time.Sleep(3500 * time.Millisecond)
		m.FailNext(2, core.ErrBroken) // later on even this may pass
		time.Sleep(2 * time.Second)
		m.Lead("w1", 10*time.Second)
		time.Sleep(time.Second)
		_ = m.end()
		expect(t, "errors", m.stderr.String(), `
elect: watch: 503; trying again
elect: watch: core: the store cannot carry this election; trying again
elect: watch: the store answers again
`)
		expect(t, "lines", m.stdout.String(), `
00:00:00  nobody leads: nothing is stored
00:00:01  unknown: last read 1.0 s ago; nobody led
00:00:06  w1 leads, fencing token 946684805, 9.5 s left by the store's clock (to a second)
`)
	})
}

// But a set-up that is wrong from the start ends it.
func TestABrokenSetUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: time.Second})
		m.FailNext(1, core.ErrBroken)
		if err := m.watcher.run(t.Context()); cliutil.CodeOf(err) != cliutil.ExitBroken {
			t.Errorf("watch = %v, want exit code %d", err, cliutil.ExitBroken)
		}
	})
}

// The view counts down by the store's clock, whatever the local one says, and
// says when the store has stopped answering.
func TestView(t *testing.T) {
	utc(t)
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{})
		w := m.watcher
		m.Lead("w1", 20*time.Second)
		look1, err := statuscmd.Look(t.Context(), clocks.DefaultClock(), m.Decider, time.Second)
		w.take(look{look1, err})
		time.Sleep(5 * time.Second)
		now := time.Now()
		expect(t, "view", w.view(now, w.state(now, w.blind(now))), `
mem://test
  state            leading
  leader           w1
  fencing token    946684800
  election number  0
  time left        15.0 s of 20.0 s, by the store's clock (to a second)
                   #####################################.............
  version          v1
  clocks           the local clock agrees with the store's, to within a second
  last read        5.0 s ago
`)
		w.take(look{err: errors.New("503\nfor now")})
		expect(t, "view", w.view(now, w.state(now, w.blind(now))), `
mem://test
  state            unknown: last read 5.0 s ago
  before           w1 led with fencing token 946684800 until about 00:00:20
  last leader      w1
  fencing token    946684800
  election number  0
  version          v1
  clocks           the local clock agrees with the store's, to within a second
  last read        5.0 s ago, and since then the store fails: 503; for now
`)
	})
}

// A leader that cannot be seen may have renewed: only a read after the end of its
// term tells that it has not.
func TestAnEndIsReadAndNotGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: 2 * time.Second})
		w := m.watcher
		m.Lead("w1", 5*time.Second)
		see := func() {
			s, err := statuscmd.Look(t.Context(), clocks.DefaultClock(), m.Decider, time.Second)
			w.take(look{s, err})
		}
		expectState := func(when, want string, leftMS int64) {
			t.Helper()
			now := time.Now()
			st := w.state(now, w.blind(now))
			if st.State != want || leftMS >= 0 && (st.TimeLeftMS == nil || *st.TimeLeftMS != leftMS) || leftMS < 0 && st.TimeLeftMS != nil {
				t.Errorf("%s: %+v, want %s with %d ms left", when, st, want, leftMS)
			}
		}
		time.Sleep(4 * time.Second)
		see()
		time.Sleep(1500 * time.Millisecond)
		expectState("after the term, not looked yet", statuscmd.Leading, 0)
		time.Sleep(4 * time.Second)
		expectState("nothing heard for long", statuscmd.Unknown, -1)
		m.FailNext(1, nil)
		see()
		expectState("a read has failed", statuscmd.Unknown, -1)
		see()
		now := time.Now()
		if st := w.state(now, w.blind(now)); st.State != statuscmd.Expired {
			t.Errorf("a read after the end: %s, want expired", st.State)
		}
	})
}

// A store that hangs is told of before the read has timed out.
func TestSilence(t *testing.T) {
	utc(t)
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: time.Second, asJSON: true})
		hang := make(chan struct{})
		m.watcher.decider = hanging{m.Decider, hang}
		m.start(t.Context())
		time.Sleep(4 * time.Second)
		close(hang)
		m.Lead("w1", 10*time.Second)
		time.Sleep(10 * time.Second)
		_ = m.end()
		expect(t, "errors", m.stderr.String(), `
elect: watch: the store has not answered for 3.2 s; still waiting
elect: watch: the store answers again
`)
		first, rest, _ := strings.Cut(m.stdout.String(), "\n")
		expect(t, "first line", first, `{"store":"mem://test","state":"unknown","error":"the store has not answered for 3.2 s"}`)
		if !strings.Contains(rest, `"state":"leading"`) {
			t.Errorf("lines after it:\n%s, want a leader", rest)
		}
	})
}

// hanging is a store that answers once the channel is closed.
type hanging struct {
	core.RaceDecider
	until chan struct{}
}

func (h hanging) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	<-h.until
	return h.RaceDecider.ReadCurrent(ctx)
}

func TestStoreClockTakesTheHighestDate(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	var c storeClock
	c.saw(time.Time{}, at(0)) // no Date: nothing is known
	c.saw(at(100_000), at(900))
	c.saw(at(101_000), at(1100)) // proves that the first was 0.8 s too low
	c.saw(at(101_000), at(2000)) // proves nothing new
	if got, want := c.at(at(2000)), at(101_900); !got.Equal(want) {
		t.Errorf("guessed %v, want %v", got, want)
	}
	c.saw(at(50_000), at(2100)) // the store's clock was set
	if got, want := c.at(at(2200)), at(50_100); !got.Equal(want) {
		t.Errorf("after it was set: guessed %v, want %v", got, want)
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "--store is missing"},
		{[]string{"--store", "gs://x"}, "gs://BUCKET/OBJECT"},
		{[]string{"--store", "mem://test", "--poll", "0s"}, "positive"},
		{[]string{"--store", "mem://test", "--poll", "-1s"}, "positive"},
		{[]string{"--store", "mem://test", "--poll", "1ms"}, "too short"},
		{[]string{"--store", "mem://test", "more"}, "no arguments"},
	} {
		var out bytes.Buffer
		cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
		cmd.SetArgs(c.args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		if cliutil.CodeOf(err) != cliutil.ExitUsage || !strings.Contains(err.Error(), c.says) || out.Len() > 0 {
			t.Errorf("%v: %v, printed %q; want a usage error that says %q", c.args, err, &out, c.says)
		}
	}
}

func TestLinesThatDoNotFit(t *testing.T) {
	if got := fit("12345678", 8); got != "12345678" {
		t.Errorf("fit to the full width = %q", got)
	}
	if got := fit("123456789", 8); got != "12345..." {
		t.Errorf("fit = %q, want the cut marked", got)
	}
}
