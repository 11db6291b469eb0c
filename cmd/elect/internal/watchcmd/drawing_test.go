package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/picture"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

func drawn(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The picture has what was seen, and is there before watch ends.
func TestTimeline(t *testing.T) {
	utc(t)
	path := filepath.Join(t.TempDir(), "watch.svg")
	to, err := picture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: 300 * time.Millisecond})
		m.watcher.drawing = &drawing{to: to}
		m.start(t.Context())
		life(m)
		early := drawn(t, path)
		if !strings.Contains(early, "elect watch mem://test") || !strings.Contains(early, "w1 leads, fencing token 946684801") {
			t.Errorf("after ten seconds there is\n%s", early)
		}
		m.FailNext(3, errors.New("503"))
		time.Sleep(3 * time.Second)
		if err := m.end(); err != nil {
			t.Error(err)
		}
		text := drawn(t, path)
		for _, want := range []string{"w2 leads, fencing token 946684802", "as another one saw it", "w1: a renewal",
			"ended by: end of the term", "ended by: resignation", "the store gives no answer, 503", "what is stored is no entry",
			"What was seen from 2000-01-01 00:00:00 to 2000-01-01 00:00:16."} {
			if !strings.Contains(text, want) {
				t.Errorf("the picture does not have %q", want)
			}
		}
	})
}

// A store that never answers: the picture says so.
func TestTimelineOfAStoreThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "watch.html")
	to, err := picture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: time.Second})
		m.watcher.drawing = &drawing{to: to}
		m.FailNext(1000, errors.New("503"))
		m.start(t.Context())
		time.Sleep(5500 * time.Millisecond)
		if err := m.end(); err != nil {
			t.Error(err)
		}
		if text := drawn(t, path); !strings.Contains(text, "the store gives no answer, 503") {
			t.Errorf("it has\n%s", text)
		}
	})
}

// A picture that cannot be written any more is said once, and in the end is a failure.
func TestTimelineThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "watch.svg")
	to, err := picture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: time.Second})
		m.watcher.drawing = &drawing{to: to}
		m.start(t.Context())
		time.Sleep(time.Minute)
		if err := m.end(); cliutil.CodeOf(err) != cliutil.ExitFailed || !strings.Contains(err.Error(), "elect did not write it") {
			t.Errorf("watch = %v", err)
		}
		if n := strings.Count(m.stderr.String(), "elect did not write it"); n != 1 {
			t.Errorf("it was said %d times:\n%s", n, &m.stderr)
		}
	})
}

func TestTimelineUsage(t *testing.T) {
	for _, path := range []string{"", "-", "x.png", "no/such/folder/x.svg"} {
		cmd := New(&cliutil.Env{Stores: new(stores.Opener)})
		cmd.SetArgs([]string{"--store", "mem://x", "--timeline", path})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it ends at once if it begins
		if err := cmd.ExecuteContext(ctx); cliutil.CodeOf(err) != cliutil.ExitUsage {
			t.Errorf("--timeline %q: %v, want a usage error", path, err)
		}
	}
}

// slow is a store whose answers come late while its gate is shut, and never fail.
type slow struct {
	core.RaceDecider
	mu   sync.Mutex
	gate chan struct{} // nil: open
}

func (s *slow) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.RaceDecider.ReadCurrent(ctx)
}

func (s *slow) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate = make(chan struct{})
}

func (s *slow) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.gate)
	s.gate = nil
}

// Whatever was announced as unknown is drawn, also where no read has failed; and what
// nobody saw is no part of a reign, beyond the term that was known.
func TestTimelineShowsEveryUnknown(t *testing.T) {
	utc(t)
	const w1 = "00:00:00.000 to 00:00:02.999\nw1 leads"
	for name, c := range map[string]struct {
		meanwhile func(m *watching, renew func())
		hangs     bool // until the end
		has       []string
		hasNot    string
	}{
		"the leader has renewed": {func(_ *watching, renew func()) { renew() }, false,
			[]string{w1, "not seen until 00:00:05: the store has not answered", "since 00:00:05.500\nw1 leads"}, "ended by"},
		"another one leads": {func(m *watching, _ func()) { m.Lead("w2", 2*time.Second) }, false,
			[]string{w1, "not seen after that: the store has not answered", "since 00:00:05.500\nw2 leads"}, "ended by"},
		"nothing has happened": {func(*watching, func()) {}, false,
			[]string{"00:00:00.000 to 00:00:03.000\nw1 leads", "ended by: end of the term, nobody saw it renewed"}, "not seen"},
		"it goes on": {func(*watching, func()) {}, true,
			[]string{w1, "not seen after that: the store has not answered"}, "ended by"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "watch.svg")
			to, err := picture.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				m := watch(t, watcher{poll: 500 * time.Millisecond})
				store := &slow{RaceDecider: m.Decider}
				m.watcher.decider, m.watcher.drawing = store, &drawing{to: to}
				e := m.Lead("w1", 2*time.Second)
				renew := func() {
					e.ElectionNumber++
					e.Nonce, e.SentBy, e.TermExpiry = fmt.Sprint(e.ElectionNumber), time.Now(), time.Now().Add(2*time.Second)
					m.Plant(e)
				}
				m.start(t.Context())
				time.Sleep(999 * time.Millisecond)
				renew()
				time.Sleep(101 * time.Millisecond) // it is seen at 1 s
				store.shut()
				time.Sleep(4400 * time.Millisecond)
				c.meanwhile(m, renew)
				if !c.hangs {
					store.open()
				}
				time.Sleep(100 * time.Millisecond)
				if err := m.end(); err != nil {
					t.Error(err)
				}
				if !strings.Contains(m.stdout.String(), "unknown") || strings.Contains(m.stderr.String(), "trying again") {
					t.Fatalf("it is not only announced as unknown: this test tests nothing\n%s%s", &m.stdout, &m.stderr)
				}
			})
			text := drawn(t, path)
			for _, want := range append(c.has, "\nthe store: the store gives no answer, the store has not answered for") {
				if !strings.Contains(text, want) {
					t.Errorf("the picture does not have %q", want)
				}
			}
			if strings.Contains(text, c.hasNot) {
				t.Errorf("the picture has %q", c.hasNot)
			}
		})
	}
}
