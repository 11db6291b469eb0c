package stage_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/rig"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/stage"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
)

// programs are what TestMain has built, and the stores that run.
type programs struct {
	root, dir, emulator string
	stores              *rig.Stores
	err                 error
	mu                  sync.Mutex
	built               map[string]string
}

var shared programs

// Switch is the variable that turns these tests on: "1" skips them, loudly, where the
// emulator cannot be installed, "require" fails then.
const Switch = "CLOUDELECT_FUNCTIONS"

func TestMain(m *testing.M) {
	code := func() int {
		if os.Getenv(Switch) == "" {
			return m.Run()
		}
		defer func() {
			if shared.stores != nil {
				shared.stores.Close()
			}
			_ = os.RemoveAll(shared.dir)
		}()
		shared.err = shared.prepare()
		return m.Run()
	}()
	os.Exit(code)
}

func (p *programs) prepare() (err error) {
	ctx := context.Background()
	p.built = map[string]string{}
	if p.root, err = rig.Root(ctx); err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "cloudelect-functions-"); err != nil {
		return err
	}
	if p.emulator, err = rig.Install(ctx, p.root); err != nil {
		return err
	}
	elect, err := rig.Build(ctx, p.root, p.dir, "cmd/elect")
	if err != nil {
		return err
	}
	p.stores, err = rig.StartStores(ctx, elect)
	return err
}

// ready skips the test where these tests are not asked for.
func ready(t *testing.T) {
	t.Helper()
	switch on := os.Getenv(Switch); {
	case on == "":
		t.Skip("real processes: run make test-functions")
	case shared.err == nil:
	case on == "require":
		t.Fatal(shared.err)
	default:
		fmt.Fprintf(os.Stderr, "\n*** NOT TESTED: %s: %v\n\n", t.Name(), shared.err)
		t.Skip(shared.err)
	}
}

// patience is a context that ends a little before the test run does, so that what
// hangs fails, and leaves no process. It is the only deadline there is.
func patience(t *testing.T) context.Context {
	t.Helper()
	deadline, ok := t.Deadline()
	if !ok {
		return t.Context()
	}
	ctx, cancel := context.WithDeadlineCause(t.Context(), deadline.Add(-20*time.Second), errors.New("the time of the test run is over"))
	t.Cleanup(cancel)
	return ctx
}

func program(t *testing.T, pkg string, tags ...string) string {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	key := pkg + strings.Join(tags, ",")
	if shared.built[key] == "" {
		path, err := rig.Build(t.Context(), shared.root, shared.dir, pkg, tags...)
		if err != nil {
			t.Fatal(err)
		}
		shared.built[key] = path
	}
	return shared.built[key]
}

// Two sandboxes of a function: triggered together, again, killed, frozen, late.
func TestLambda(t *testing.T) {
	ready(t)
	for scheme, pkg := range map[string]string{"dynamodb": "functions/cmd/lambda-worker/dynamodb", "s3": "functions/cmd/lambda-worker/s3"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel() // they wait for terms, most of the time
			p := stage.Lambda{Stores: shared.stores, Emulator: shared.emulator, Worker: program(t, pkg), Dir: t.TempDir(),
				Election: scheme + "://elections/play", Say: t.Logf, Term: term}
			if err := p.Play(patience(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Containers: SIGTERM, and three tasks of one execution.
func TestJob(t *testing.T) {
	ready(t)
	for scheme, pkg := range map[string]string{"gs": "functions/cmd/job-worker/gcs", "dynamodb": "functions/cmd/job-worker/dynamodb", "s3": "functions/cmd/job-worker/s3"} {
		t.Run(scheme, func(t *testing.T) {
			p := stage.Job{Stores: shared.stores, Worker: program(t, pkg), Election: scheme + "://elections/job", Say: t.Logf}
			if err := p.Play(patience(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// term is as long as a machine may stand still while somebody leads. What waits for
// its end waits for so long.
const term = 10 * time.Second

// sandbox is one that tests may mistreat.
func sandbox(t *testing.T, name, election string, timeout time.Duration, env ...string) *rig.Sandbox {
	t.Helper()
	worker := program(t, "functions/cmd/lambda-worker/dynamodb", "chaos")
	s, err := rig.StartSandbox(patience(t), shared.emulator, t.TempDir(), name, worker, timeout,
		append(slices.Clone(shared.stores.Env), append([]string{"STORE=dynamodb://elections/" + election, "TERM_LENGTH=" + term.String(), "MARGIN=30s"}, env...)...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if t.Failed() {
			t.Logf("%s printed\n%s", name, strings.Join(s.Lines(), "\n"))
		}
	})
	return s
}

func invoke(t *testing.T, s *rig.Sandbox, minute int, more string) rig.Answer {
	t.Helper()
	a, err := s.Invoke(patience(t), fmt.Sprintf(`{"time": "2026-03-01T03:%02d:00Z"%s}`, minute, more))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// until asks again until ok, as a scheduler does.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for ctx := patience(t); !ok(); {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s: not yet, and %v", what, context.Cause(ctx))
		}
	}
}

// settle invokes until the slot is settled.
func settle(t *testing.T, s *rig.Sandbox, minute int) (a rig.Answer) {
	t.Helper()
	until(t, "its turn", func() bool {
		a = invoke(t, s, minute, "")
		return a.Outcome != "running"
	})
	return a
}

// entry is what is stored of an election.
func entry(t *testing.T, election string) rig.Entry {
	t.Helper()
	e, err := shared.stores.Entry(patience(t), "dynamodb://elections/"+election)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func wantRecords(t *testing.T, election string, want ...string) []store.Record {
	t.Helper()
	records, err := shared.stores.Records(patience(t), "dynamodb://elections/"+election)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, r.Slot)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("there are records of %q, want %q", got, want)
	}
	return records
}

// A handler that panics resigns first: the next trigger runs at once, elsewhere.
func TestPanic(t *testing.T) {
	ready(t)
	a, b := sandbox(t, "A", "panic", 10*time.Minute), sandbox(t, "B", "panic", 10*time.Minute)
	if got := invoke(t, a, 0, `, "chaos_panic": "oh"`); got.Outcome != "" || !strings.Contains(got.Text, "oh") {
		t.Errorf("a panic was answered with %s", got.Text)
	}
	if got := invoke(t, b, 0, ""); got.Outcome != "ran" { // not "running": nobody has to wait for the term
		t.Errorf("the next trigger was answered with %s, want ran", got.Text)
	}
	wantRecords(t, "panic", "2026-03-01T03:00:00Z")
}

// A handler that ignores its context is killed at the deadline, and another does the slot.
func TestIgnoredContext(t *testing.T) {
	ready(t)
	a, b := sandbox(t, "A", "ignore", 5*time.Second, "MARGIN=500ms"), sandbox(t, "B", "ignore", 10*time.Minute)
	until(t, "killed at work", func() bool { // a slow machine may not get that far in so little time
		got := invoke(t, a, 0, `, "chaos_ignore": "1h"`)
		if got.Outcome != "" {
			t.Fatalf("a handler that never ends was answered with %s", got.Text)
		}
		return strings.Contains(got.Text, "timed out") && entry(t, "ignore").LeaderID != ""
	})
	if got := settle(t, b, 0); got.Outcome != "ran" {
		t.Errorf("the next trigger was answered with %s, want ran", got.Text)
	}
	wantRecords(t, "ignore", "2026-03-01T03:00:00Z")
}

// A function whose timeout is shorter than two margins says so, and sends nothing.
func TestShortTimeout(t *testing.T) {
	ready(t)
	a := sandbox(t, "A", "short", 2*time.Minute, "MARGIN=5m")
	if got := invoke(t, a, 0, ""); !strings.Contains(got.ErrorMessage, "longer timeout") {
		t.Errorf("answered with %s, want what to change", got.Text)
	}
	wantRecords(t, "short")
}

// A store that does not answer is an error of the invocation, within its time.
func TestStoreDown(t *testing.T) {
	ready(t)
	a := sandbox(t, "A", "down", 2*time.Minute, "MARGIN=50s", "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1")
	if got := invoke(t, a, 0, ""); got.ErrorMessage == "" {
		t.Errorf("answered with %s, want an error", got.Text)
	}
}

// Settings that contradict themselves end the initialisation, and the log says why.
func TestBadSettings(t *testing.T) {
	ready(t)
	a := sandbox(t, "A", "bad", 2*time.Minute, "TERM_LENGTH=soon", "MODE=both")
	if got := invoke(t, a, 0, ""); got.Status != http.StatusBadGateway {
		t.Errorf("answered with status %d and %q, want that the function has ended", got.Status, got.Text)
	}
	for _, name := range []string{"TERM_LENGTH", "MODE"} {
		if _, err := a.Await(patience(t), name, func(line string) bool { return strings.Contains(line, name+" is") }); err != nil {
			t.Error(err)
		}
	}
}

// Clocks of two sandboxes an hour apart: each slot is done once, in turn, and a
// sandbox that was killed is not followed before its term is over.
func TestClocksAnHourApart(t *testing.T) {
	ready(t)
	fast := sandbox(t, "fast", "clocks", 10*time.Minute, "CHAOS_CLOCK=1h")
	slow := sandbox(t, "slow", "clocks", 10*time.Minute, "CHAOS_CLOCK=-1h")
	if got := invoke(t, slow, 0, ""); got.Outcome != "ran" {
		t.Fatalf("%s, want ran", got.Text)
	}
	if got := invoke(t, fast, 0, ""); got.Outcome != "done" {
		t.Errorf("%s, want done", got.Text)
	}
	if got := invoke(t, fast, 1, ""); got.Outcome != "ran" {
		t.Errorf("%s, want ran", got.Text)
	}
	answer := make(chan struct{})
	go func() {
		defer close(answer)
		_, _ = fast.Invoke(patience(t), `{"time": "2026-03-01T03:02:00Z", "chaos_ignore": "1h"}`)
	}()
	until(t, "the fast one at work", func() bool { return entry(t, "clocks").LeaderID != "" })
	if err := fast.Kill(); err != nil {
		t.Fatal(err)
	}
	<-answer
	over := entry(t, "clocks").TermExpiry.Add(-time.Hour) // by the clock of this machine
	if got := settle(t, slow, 2); got.Outcome != "ran" {
		t.Errorf("%s, want ran", got.Text)
	}
	records := wantRecords(t, "clocks", "2026-03-01T03:00:00Z", "2026-03-01T03:01:00Z", "2026-03-01T03:02:00Z")
	if at := records[2].DoneAt; at.Before(over) {
		t.Errorf("the slow one was at work at %v, the term of the fast one was over at %v", at, over)
	}
}

// With MODE=lead a sandbox that the platform ends resigns. The emulator leaves it two
// seconds for that, which may not do on a slow machine: then another one may try.
func TestShutdownResigns(t *testing.T) {
	ready(t)
	for try := range 5 {
		election := fmt.Sprint("lead", try)
		a := sandbox(t, "A", election, 10*time.Minute, "MODE=lead", "TERM_LENGTH=1h")
		b := sandbox(t, "B", election, 10*time.Minute, "MODE=lead", "TERM_LENGTH=1h")
		for range 2 {
			if got := invoke(t, a, 0, ""); got.Outcome != "ran" {
				t.Fatalf("%s, want ran", got.Text)
			}
		}
		if got := invoke(t, b, 0, ""); got.Outcome != "follower" {
			t.Fatalf("%s, want follower", got.Text)
		}
		if err := a.Signal(syscall.SIGTERM); err != nil { // the emulator shuts its sandbox down
			t.Fatal(err)
		}
		if _, err := a.Wait(patience(t)); err != nil { // and it has no lines any more: it is gone
			t.Fatal(err)
		}
		if entry(t, election).LeaderID != "" {
			continue
		}
		if got := invoke(t, b, 0, ""); got.Outcome != "ran" {
			t.Errorf("%s, want ran", got.Text)
		}
		return
	}
	t.Error("it did not resign")
}

// Exit codes of a container that cannot work.
func TestJobExitCodes(t *testing.T) {
	ready(t)
	job := program(t, "functions/cmd/job-worker/dynamodb")
	for _, c := range []struct {
		name string
		env  []string
		want int
	}{
		{"settings", []string{"TERM_LENGTH=soon"}, 64},
		{"two slots", []string{"SLOT=name:x", "PERIOD=1h"}, 64},
		{"a name that is none", []string{"SLOT=name:\xff"}, 64},
		{"no table", []string{"STORE=dynamodb://nothere/x"}, 78},
		{"store down", []string{"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", "ONCE=true", "TERM_LENGTH=1s"}, 69},
		{"store down, waiting", []string{"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", "WAIT=1s", "TERM_LENGTH=1s"}, 69},
		{"store down, waiting for a slot", []string{"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", "WAIT=1s", "TERM_LENGTH=1s", "SLOT=name:x"}, 69},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := rig.Start("job", slices.Concat(shared.stores.Env, []string{"STORE=dynamodb://elections/codes"}, c.env), job)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if code, err := p.Wait(patience(t)); err != nil || code != c.want {
				t.Errorf("exit code %d, %v; want %d; it printed %q", code, err, c.want, p.Lines())
			}
		})
	}
}

// The demo ends in order when it is interrupted, whatever it is at: it says so, and
// nothing else, and leaves neither a file nor a process behind.
func TestDemoInterrupted(t *testing.T) {
	ready(t)
	demo := program(t, "functions/cmd/demo")
	for _, c := range []struct {
		at   string
		sig  syscall.Signal
		code int
	}{
		{"building the programs", syscall.SIGTERM, 143},
		{"killed with SIGKILL", syscall.SIGINT, 130},
	} {
		t.Run(c.at, func(t *testing.T) {
			tmp := t.TempDir()
			cmd := exec.CommandContext(patience(t), demo)
			cmd.Dir, cmd.Env = shared.root, append(os.Environ(), "TMPDIR="+tmp)
			var says strings.Builder
			cmd.Stderr = &says
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			text, buf := "", make([]byte, 4096)
			for !strings.Contains(text, c.at) {
				n, err := out.Read(buf)
				if text += string(buf[:n]); err != nil {
					t.Fatalf("it ended early: %v, after %q and %q", err, text, cmd.Wait())
				}
			}
			_ = cmd.Process.Signal(c.sig)
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.code || says.String() != "interrupted\n" {
				t.Errorf("exit code %d and %q, want %d and nothing but that it was interrupted", code, says.String(), c.code)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
				t.Errorf("it left %v behind, %v", left, err)
			}
			until(t, "the end of its processes", func() bool { return len(under(t, tmp)) == 0 })
		})
	}
}

// under returns the processes whose environment or program is in a folder, where the
// system tells.
func under(t *testing.T, dir string) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), dir) {
			pids = append(pids, f)
		}
	}
	return pids
}

// A slot that is done already is nothing to do: exit code 0, and one line says why
// nothing was.
func TestJobFindsSlotDone(t *testing.T) {
	ready(t)
	job := program(t, "functions/cmd/job-worker/dynamodb")
	env := append(slices.Clone(shared.stores.Env), "STORE=dynamodb://elections/jobdone")
	for _, c := range []struct {
		slot string
		says int
	}{{"2026-03-01T05:00:00+02:00", 2}, {"2026-03-01T03:00:00Z", 1}} {
		p, err := rig.Start("job", append(env, "SLOT="+c.slot), job)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		code, err := p.Wait(patience(t))
		if lines := p.Lines(); err != nil || code != 0 || len(lines) != c.says || !strings.Contains(lines[0], "2026-03-01T03:00:00Z") {
			t.Errorf("SLOT=%s: exit code %d, %v; it printed %q, want %d lines about the slot", c.slot, code, err, lines, c.says)
		}
	}
	wantRecords(t, "jobdone", "2026-03-01T03:00:00Z")
}
