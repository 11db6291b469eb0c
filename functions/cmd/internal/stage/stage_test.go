package stage_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/rig"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/stage"
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
			p := stage.Lambda{Stores: shared.stores, Emulator: shared.emulator, Worker: program(t, pkg), Dir: t.TempDir(),
				Election: scheme + "://elections/play", Say: t.Logf}
			if err := p.Play(t.Context()); err != nil {
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
			if err := p.Play(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// sandbox is one that tests may mistreat.
func sandbox(t *testing.T, name, election string, timeout time.Duration, env ...string) *rig.Sandbox {
	t.Helper()
	worker := program(t, "functions/cmd/lambda-worker/dynamodb", "chaos")
	s, err := rig.StartSandbox(t.Context(), shared.emulator, t.TempDir(), name, worker, timeout,
		append(slices.Clone(shared.stores.Env), append([]string{"STORE=dynamodb://elections/" + election, "TERM_LENGTH=3s"}, env...)...)...)
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
	a, err := s.Invoke(t.Context(), fmt.Sprintf(`{"time": "2026-03-01T03:%02d:00Z"%s}`, minute, more))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// until invokes until the slot is settled, as a scheduler does.
func until(t *testing.T, s *rig.Sandbox, minute int) rig.Answer {
	t.Helper()
	for {
		if a := invoke(t, s, minute, ""); a.Outcome != "running" {
			return a
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it is never its turn")
		}
	}
}

func wantRecords(t *testing.T, election string, want ...string) {
	t.Helper()
	records, err := shared.stores.Records(t.Context(), "dynamodb://elections/"+election)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, r.Slot)
	}
	if !slices.Equal(got, want) {
		t.Errorf("there are records of %q, want %q", got, want)
	}
}

// A handler that panics resigns first: the next trigger runs at once, elsewhere.
func TestPanic(t *testing.T) {
	ready(t)
	a, b := sandbox(t, "A", "panic", time.Minute), sandbox(t, "B", "panic", time.Minute)
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
	a, b := sandbox(t, "A", "ignore", 2*time.Second), sandbox(t, "B", "ignore", time.Minute)
	if got := invoke(t, a, 0, `, "chaos_ignore": "10m"`); !strings.Contains(got.Text, "timed out") {
		t.Errorf("a handler that never ends was answered with %s", got.Text)
	}
	if got := until(t, b, 0); got.Outcome != "ran" {
		t.Errorf("the next trigger was answered with %s, want ran", got.Text)
	}
	wantRecords(t, "ignore", "2026-03-01T03:00:00Z")
}

// A function whose timeout is shorter than two margins says so, and sends nothing.
func TestShortTimeout(t *testing.T) {
	ready(t)
	a := sandbox(t, "A", "short", time.Second, "MARGIN=2s")
	if got := invoke(t, a, 0, ""); !strings.Contains(got.ErrorMessage, "longer timeout") {
		t.Errorf("answered with %s, want what to change", got.Text)
	}
	wantRecords(t, "short")
}

// A store that does not answer is an error of the invocation, within its time.
func TestStoreDown(t *testing.T) {
	ready(t)
	a := sandbox(t, "A", "down", 5*time.Second, "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1")
	if got := invoke(t, a, 0, ""); got.ErrorMessage == "" {
		t.Errorf("answered with %s, want an error", got.Text)
	}
}

// Settings that contradict themselves end the initialisation, and the log says why.
func TestBadSettings(t *testing.T) {
	ready(t)
	a := sandbox(t, "A", "bad", 5*time.Second, "TERM_LENGTH=soon", "MODE=both")
	if got := invoke(t, a, 0, ""); got.Status != http.StatusBadGateway {
		t.Errorf("answered with status %d and %q, want that the function has ended", got.Status, got.Text)
	}
	for _, name := range []string{"TERM_LENGTH", "MODE"} {
		if _, err := a.Await(t.Context(), name, func(line string) bool { return strings.Contains(line, name+" is") }); err != nil {
			t.Error(err)
		}
	}
}

// Clocks of two sandboxes an hour apart: each slot is done once, in turn, and a
// sandbox that was killed is not followed before its term is over.
func TestClocksAnHourApart(t *testing.T) {
	ready(t)
	fast := sandbox(t, "fast", "clocks", time.Minute, "CHAOS_CLOCK=1h", "WORK_TIME=1s")
	slow := sandbox(t, "slow", "clocks", time.Minute, "CHAOS_CLOCK=-1h")
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
		_, _ = fast.Invoke(t.Context(), `{"time": "2026-03-01T03:02:00Z"}`)
	}()
	for { // until the fast one is at work
		if leader, err := shared.stores.Leader(t.Context(), "dynamodb://elections/clocks"); err != nil {
			t.Fatal(err)
		} else if leader != "" {
			break
		}
	}
	killed := time.Now()
	if err := fast.Kill(); err != nil {
		t.Fatal(err)
	}
	<-answer
	if got := until(t, slow, 2); got.Outcome != "ran" {
		t.Errorf("%s, want ran", got.Text)
	}
	if took := time.Since(killed); took < 2*time.Second {
		t.Errorf("the slow one took over after %v: the term was 3 s", took)
	}
	wantRecords(t, "clocks", "2026-03-01T03:00:00Z", "2026-03-01T03:01:00Z", "2026-03-01T03:02:00Z")
}

// With MODE=lead a sandbox that the platform ends resigns.
func TestShutdownResigns(t *testing.T) {
	ready(t)
	a, b := sandbox(t, "A", "lead", time.Minute, "MODE=lead", "TERM_LENGTH=10m"), sandbox(t, "B", "lead", time.Minute, "MODE=lead")
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
	if _, err := a.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for {
		leader, err := shared.stores.Leader(t.Context(), "dynamodb://elections/lead")
		if err != nil {
			t.Fatal(err)
		}
		if leader == "" {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it did not resign")
		}
	}
	if got := invoke(t, b, 0, ""); got.Outcome != "ran" {
		t.Errorf("%s, want ran", got.Text)
	}
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
		{"two slots", []string{"SLOT=x", "PERIOD=1h"}, 64},
		{"no table", []string{"STORE=dynamodb://nothere/x"}, 78},
		{"store down", []string{"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", "ONCE=true", "TERM_LENGTH=1s"}, 69},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := rig.Start("job", slices.Concat(shared.stores.Env, []string{"STORE=dynamodb://elections/codes"}, c.env), job)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if code, err := p.Wait(t.Context()); err != nil || code != c.want {
				t.Errorf("exit code %d, %v; want %d; it printed %q", code, err, c.want, p.Lines())
			}
		})
	}
}

// The demo ends in order when it is interrupted, and leaves no process behind.
func TestDemoInterrupted(t *testing.T) {
	ready(t)
	demo := program(t, "functions/cmd/demo")
	cmd := exec.CommandContext(t.Context(), demo)
	cmd.Dir = shared.root
	tmp := t.TempDir()
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text, buf := "", make([]byte, 4096)
	for !strings.Contains(text, "killed with SIGKILL") {
		n, err := out.Read(buf)
		if err != nil {
			t.Fatalf("it ended early: %v, after %q", err, text)
		}
		text += string(buf[:n])
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err == nil {
		t.Error("it says that everything went as promised")
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("it left %v behind, %v", left, err)
	}
}
