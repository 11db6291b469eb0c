package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/job"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
)

// TestMain makes the runtime start what delivers signals: no bubble may own that.
func TestMain(m *testing.M) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGTERM)
	signal.Stop(ch)
	os.Exit(m.Run())
}

// shelf is a store, and the slots that have a record.
type shelf struct {
	decider *memory.Decider
	slots   []string
	broken  func(context.Context) error // what writing a record meets, unless it is nil
}

func newShelf() *shelf {
	d := memory.NewDecider()
	d.SetClock(clocks.DefaultClock()) // PERIOD goes by the store's clock
	return &shelf{decider: d}
}

func (s *shelf) open(_ context.Context, r *settings.Reader) (*store.Store, error) {
	if err := r.Err(); err != nil {
		return nil, err
	}
	return &store.Store{Decider: s.decider.Handle(), Close: func() error { return nil },
		Write: func(ctx context.Context, _ *core.Leadership, r store.Record) (bool, error) {
			if s.broken != nil {
				if err := s.broken(ctx); err != nil {
					return false, err
				}
			}
			if slices.Contains(s.slots, r.Slot) {
				return false, nil
			}
			s.slots = append(s.slots, r.Slot)
			return true, nil
		}}, nil
}

// run runs a container with these variables, name=value, and returns what it says.
func (s *shelf) run(t *testing.T, env ...string) (code int, says string) {
	t.Helper()
	var out bytes.Buffer
	getenv := func(name string) string {
		for _, kv := range env {
			if n, v, _ := strings.Cut(kv, "="); n == name {
				return v
			}
		}
		return ""
	}
	code = job.Run(t.Context(), getenv, s.open, &out, &out)
	return code, out.String()
}

// A record is by slot, however the slot was chosen: it is what keeps the slot from
// being done twice.
func TestRecordsAreBySlot(t *testing.T) {
	long := strings.Repeat("x", 100)
	for name, c := range map[string]struct {
		runs [][]string
		want []string
	}{
		"period":         {[][]string{{"PERIOD=1h"}, {"PERIOD=1h"}}, []string{"2000-01-01T00:00:00Z"}},
		"zones":          {[][]string{{"SLOT=1999-12-31T03:00:00+02:00"}, {"SLOT=1999-12-31T01:00:00Z"}}, []string{"1999-12-31T01:00:00Z"}},
		"name":           {[][]string{{"SLOT=name:release 7"}}, []string{"name:release 7"}},
		"long name":      {[][]string{{"SLOT=name:" + long + "1"}, {"SLOT=name:" + long + "2"}}, []string{"name:" + long + "1", "name:" + long + "2"}},
		"name of a time": {[][]string{{"SLOT=name:2026-03-01T03:00:00Z"}}, []string{"name:2026-03-01T03:00:00Z"}},
		"execution":      {[][]string{{"SLOT=execution", "CLOUD_RUN_EXECUTION=nightly-x7k2p"}}, []string{"name:nightly-x7k2p"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				for _, env := range c.runs {
					if code, says := s.run(t, env...); code != 0 {
						t.Fatalf("%q: exit code %d: %s", env, code, says)
					}
					time.Sleep(time.Minute)
				}
				if !slices.Equal(s.slots, c.want) {
					t.Errorf("there are records of %q, want %q", s.slots, c.want)
				}
			})
		})
	}
}

// A slot that the store forgot has its record still: what equal instants share.
func TestZonesShareTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.run(t, "SLOT=1999-12-31T03:00:00+02:00")
		s.decider = newShelf().decider
		if code, says := s.run(t, "SLOT=1999-12-31T01:00:00Z"); code != 0 || !strings.Contains(says, "recorded before") {
			t.Errorf("exit code %d: %s; want a word that it was recorded", code, says)
		}
	})
}

// Without a slot each reign has a record.
func TestRecordsAreByReign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		for range 2 {
			if code, says := s.run(t); code != 0 {
				t.Fatalf("exit code %d: %s", code, says)
			}
			time.Sleep(time.Minute)
		}
		if len(s.slots) != 2 || !strings.HasPrefix(s.slots[0], "reign ") {
			t.Errorf("there are records of %q, want two reigns", s.slots)
		}
	})
}

// Whoever sets a variable means something by it: what would be ignored, or be taken
// for something else, is refused before anything is sent.
func TestRefusedSettings(t *testing.T) {
	for _, c := range []struct{ env, says string }{
		{"SLOT=2026-03-01 03:00", "did you mean 2026-03-01T03:00:00Z?"},
		{"SLOT=2026-03-01T03:00:00", "did you mean 2026-03-01T03:00:00Z?"},
		{"SLOT=2026-03-01", "did you mean 2026-03-01T00:00:00Z?"},
		{"SLOT=2026-3-1 3:00 +0200", "did you mean 2026-03-01T03:00:00+02:00?"},
		{"SLOT=2026-03-01 03:00:00+01", "did you mean 2026-03-01T03:00:00+01:00?"},
		{"SLOT=2026-03-01T3:00:01Z", "did you mean 2026-03-01T03:00:01Z?"},
		{"SLOT=2026-03-01T03:00:00,5Z", "did you mean 2026-03-01T03:00:00.5Z?"},
		{"SLOT=0001-01-01T00:00:00Z", "that is Go's zero time, and no slot"},
		{"SLOT=name:a\nworking on b", "SLOT is \"name:a\\nworking on b\": it has a control character, U+000A: remove it"},
		{"SLOT=name:a\x1b[2J", "it has a control character, U+001B"},
		{"SLOT=execution CLOUD_RUN_EXECUTION=a\u202eb", "CLOUD_RUN_EXECUTION is"},
		{"SLOT=2026-02-30T03:00:00Z", "write a time with its zone, like 2026-03-01T03:00:00Z"},
		{"SLOT=03:00", "name:03:00"},
		{"SLOT=exectuion", "or execution, or name: and a name"},
		{"SLOT=name:", "the name is missing"},
		{"SLOT=execution", "there is no CLOUD_RUN_EXECUTION"},
		{"SLOT=name:x PERIOD=1h", "SLOT and PERIOD are both set"},
		{"SLOT=name:x PERIOD=soon", "PERIOD is \"soon\""},
		{"ONCE=true WAIT=1m", "WAIT and ONCE are both set"},
		{"LEAVE_QUIETLY=true", "LEAVE_QUIETLY is set, but"},
		{"ON_FAILURE=skip", "ON_FAILURE is set, but"},
		{"TERM_LENGTH=0", "TERM_LENGTH is 0s: write a time between 1s and 87600h0m0s, or leave it out for 15s"},
		{"TERM_LENGTH=1ms", "TERM_LENGTH is 1ms"},
		{"WAIT=0", "WAIT is 0s: write a time between 1ms and 87600h0m0s, or leave it out to wait for ever: ONCE=true asks once"},
		{"PERIOD=0s", "PERIOD is 0s"},
		{"GRACE=0", "GRACE is 0s: write a time between 1ms and 24h0m0s, or leave it out for 9s"},
		{"WORK_TIME=-1s", "WORK_TIME is -1s: write a time between 0s"},
		{"TERM_LENGTH=15", "TERM_LENGTH is \"15\": write a time like 15s"},
	} {
		t.Run(c.env, func(t *testing.T) {
			var env []string
			for _, kv := range strings.SplitAfter(c.env, " ") {
				if strings.Contains(kv, "=") {
					env = append(env, kv)
				} else {
					env[len(env)-1] += kv
				}
			}
			s := &shelf{} // without a store: asking it would be noticed
			code, says := s.run(t, env...)
			if code != 64 || !strings.Contains(says, c.says) {
				t.Errorf("exit code %d: %s; want 64 and %q", code, says, c.says)
			}
		})
	}
}

// What belongs together is not refused.
func TestAcceptedSettings(t *testing.T) {
	for _, env := range [][]string{
		{"ONCE=false", "WAIT=1m", "LEAVE_QUIETLY=true"},
		{"ONCE=true", "LEAVE_QUIETLY=true", "WORK_TIME=0"},
		{"PERIOD=1h", "ON_FAILURE=skip", "GRACE=1s", "TERM_LENGTH=1s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newShelf()
			if code, says := s.run(t, env...); code != 0 {
				t.Errorf("%q: exit code %d: %s", env, code, says)
			}
		})
	}
}

// A task that finds nothing to do leaves with 0 and says why in one line, and one that
// works logs nothing.
func TestOneLineSaysWhyNothingWasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		if code, says := s.run(t, "SLOT=name:x"); code != 0 || strings.Count(says, "\n") != 2 {
			t.Errorf("exit code %d: %s; want that it works, and that it is done", code, says)
		}
		if code, says := s.run(t, "SLOT=name:x"); code != 0 || strings.Count(says, "\n") != 1 || !strings.Contains(says, "slot x was done before") {
			t.Errorf("exit code %d: %s; want one line that it was done before", code, says)
		}
	})
}

// A name is quoted where people read it.
func TestNamesAreQuoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		if _, says := s.run(t, "SLOT=name:x as y, fencing token 9"); !strings.Contains(says, `working on "x as y, fencing token 9" as `) {
			t.Errorf("it says %s", says)
		}
	})
}

// Writing a record takes an end, whatever the store does, and the exit code tells whose
// fault it was.
func TestRecordFails(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	once := func(f func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			g := f
			f = func(context.Context) error { return nil }
			return g(ctx)
		}
	}
	for name, c := range map[string]struct {
		broken func(context.Context) error
		code   int
		says   string
	}{
		"hangs once":   {once(hangs), 0, "is done"},
		"hangs":        {hangs, 69, "given up after 5 attempts of 3.75s at most: no answer from the store within 3.75s"},
		"fails once":   {once(func(context.Context) error { return errors.New("503") }), 0, "is done"},
		"fails":        {func(context.Context) error { return errors.New("503") }, 69, "503"},
		"denied":       {func(context.Context) error { return fmt.Errorf("denied: %w", core.ErrBroken) }, 78, "denied"},
		"somebody led": {func(context.Context) error { return core.ErrLeadershipLost }, 76, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				s.broken = c.broken
				began := time.Now()
				code, says := s.run(t, "SLOT=name:x")
				if code != c.code || !strings.Contains(says, c.says) {
					t.Errorf("exit code %d: %s; want %d and %q", code, says, c.code, c.says)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Advice is about variables, which is what somebody who runs the program can change.
func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct{ env, says string }{
		"future": {"SLOT=2026-03-01T03:00:00Z", "job: SLOT lies in the future"},
		"period": {"PERIOD=1h", "or set SLOT in place of PERIOD"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				if name == "period" {
					s.decider = memory.NewDecider() // it tells no time
				}
				if code, says := s.run(t, c.env); code != 78 || !strings.Contains(says, c.says) {
					t.Errorf("exit code %d: %s; want 78 and %q", code, says, c.says)
				}
			})
		})
	}
}

// A store that a person has to set up is not a variable that is wrong.
func TestNotSetUp(t *testing.T) {
	var out bytes.Buffer
	open := func(context.Context, *settings.Reader) (*store.Store, error) {
		return nil, fmt.Errorf("%w: there are no credentials", core.ErrBroken)
	}
	if code := job.Run(t.Context(), func(string) string { return "" }, open, &out, &out); code != 78 || !strings.Contains(out.String(), "(exit code 78)") {
		t.Errorf("exit code %d: %s; want 78", code, &out)
	}
}
