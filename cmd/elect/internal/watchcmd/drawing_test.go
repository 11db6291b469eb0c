package watchcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/picture"
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
