package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cli"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// programVar makes this test binary be elect, or a worker, or chaos itself: what the tests
// run in processes of their own is what was built with them, race detector and all.
const programVar = "ELECT_CHAOS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	program := os.Getenv(programVar)
	if program == "" {
		os.Exit(m.Run())
	}
	args := os.Args[1:]
	switch {
	case program == "chaos":
		os.Exit(Main(args, os.Args[0], os.Stdout, os.Stderr))
	case len(args) > 0 && args[0] == workerCommand:
		os.Exit(Worker(args[1:], os.Stderr))
	}
	os.Exit(cli.Main(context.Background(), args, &cliutil.Env{
		Stdout: os.Stdout, Stderr: os.Stderr, Stores: new(stores.Opener), Executable: os.Args[0],
	}))
}

func options() Options {
	return Options{
		Elect: []string{os.Args[0]}, Worker: []string{os.Args[0], workerCommand}, Env: []string{programVar + "=elect"},
		Seed: 1, For: 4 * time.Second, Elections: 1, RightClocks: true,
	}
}

// A short run with real processes: something happens to a leader, somebody follows, and
// nothing is left.
func TestRun(t *testing.T) {
	o := options()
	var lines bytes.Buffer
	o.Progress = &lines
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Violations {
		t.Error(v)
	}
	if r.Reigns < 1 || r.Accepted == 0 || len(r.Faults) == 0 {
		t.Errorf("nothing was seen: %+v", r)
	}
	var text strings.Builder
	if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "gcs") {
		t.Errorf("%v: %s", err, text.String())
	}
}

// script writes an executable that does what elect does not.
func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "elect")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// A program that is no elect is found out.
func TestRunFindsFaults(t *testing.T) {
	for _, c := range []struct {
		name, elect string
		want        []Rule
	}{
		{"never leads, and leaves a child behind", `sleep 60 & trap 'exit 0' INT TERM; while :; do sleep 0.1; done`, []Rule{RuleLeader, RuleProcess}},
		{"dies", `case "$1" in run) exit 2;; esac; trap 'exit 0' INT; while :; do sleep 0.1; done`, []Rule{RuleExit}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options()
			o.Elect = []string{script(t, c.elect)}
			r, err := Run(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if want == RuleLeader && r.Void > 0 {
					continue // a machine that was too busy to judge by, and the run says so
				}
				if !slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Rule == want }) {
					t.Errorf("violations: %v, want %q", r.Violations, want)
				}
			}
		})
	}
}

// An elect whose clock cannot be set wrong would pass for one that can bear it.
func TestElectWithoutTheTagIsRefused(t *testing.T) {
	o := options()
	o.RightClocks = false
	if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "-tags chaos") {
		t.Errorf("error: %v", err)
	}
}

// A worker that was left behind, and what the harness holds on to, are found.
func TestLeaksAreFound(t *testing.T) {
	before := own()
	if what := leaked(before, 0); what != "" {
		t.Error(what)
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if what := leaked(before, 0); !strings.Contains(what, os.DevNull) {
		t.Errorf("an open file was not found: %q", what)
	}
	f.Close()
	stop := make(chan struct{})
	go func() { <-stop }()
	if what := leaked(before, 0); !strings.Contains(what, "TestLeaksAreFound") {
		t.Errorf("a goroutine was not found: %q", what)
	}
	close(stop)
	if what := leaked(before, 5*time.Second); what != "" {
		t.Error(what)
	}
}

func TestOrphansAreAdoptedAndFound(t *testing.T) {
	c, err := newChildren()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	const marker = "ELECT_CHAOS_RUN=orphans"
	ch, err := c.start([]string{"/bin/sh", "-c", "sleep 60 & exit 3"}, []string{marker, "PATH=" + os.Getenv("PATH")}, null)
	if err != nil {
		t.Fatal(err)
	}
	<-ch.done
	if ch.end.ExitStatus() != 3 {
		t.Errorf("ended with %s", ending(ch.end))
	}
	left := marked(marker)
	if len(left) != 1 {
		t.Fatalf("%d processes are left, want the one that sleeps", len(left))
	}
	left[0].signal(syscall.SIGSTOP)
	for deadline := time.Now().Add(10 * time.Second); ; {
		if s, ok := look(left[0].pid); ok && s.state == 'T' && s.alive() {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not stop")
		}
	}
	left[0].signal(syscall.SIGKILL)
	c.close() // returns when it was waited for
	if left[0].alive() {
		t.Error("it is still there")
	}
}

// Ctrl-C ends it at once, and leaves nothing.
func TestInterrupt(t *testing.T) {
	c, err := newChildren()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	dir := t.TempDir()
	out, err := os.Create(dir + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	elect := script(t, `trap 'exit 0' INT TERM; case "$1" in status) echo '{"clock_offset_ms":18000000}'; exit 0;; esac; while :; do sleep 0.1; done`)
	ch, err := c.start([]string{os.Args[0], "-for", "1h", "-elections", "1", "-json", "-elect", elect},
		[]string{programVar + "=chaos", "TMPDIR=" + dir}, out)
	if err != nil {
		t.Fatal(err)
	}
	defer ch.kill(syscall.SIGKILL)
	for deadline := time.Now().Add(time.Minute); !strings.Contains(tail(out), "-seed"); time.Sleep(glance) {
		if time.Now().After(deadline) {
			t.Fatal(tail(out))
		}
	}
	ch.kill(syscall.SIGINT)
	<-ch.done
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	said := tail(out)
	line := said[strings.Index(said, "{"):]
	if r := (Result{}); json.NewDecoder(strings.NewReader(line)).Decode(&r) != nil || !r.Interrupted {
		t.Errorf("it does not say in JSON that it was interrupted: %s", said)
	}
	if code := ch.end.ExitStatus(); code != 130 {
		t.Errorf("exit code %d, said: %s", code, said)
	}
}

func TestExits(t *testing.T) {
	code := func(n int) syscall.WaitStatus { return syscall.WaitStatus(n << 8) }
	for _, c := range []struct {
		name string
		end  syscall.WaitStatus
		said string
		want bool
	}{
		{"work done", code(0), "", true},
		{"lost", code(76), "", true},
		{"killed", syscall.WaitStatus(syscall.SIGKILL), "", true},
		{"asked to end before it could listen", syscall.WaitStatus(syscall.SIGTERM), "", true},
		{"did not listen", syscall.WaitStatus(syscall.SIGTERM), "waiting", false},
		{"guard killed", code(70), "elect: the guard process was killed, so COMMAND was, too", true},
		{"group left", code(70), "elect: processes of COMMAND's group 7 could not be killed", false},
		{"panic", code(2), "panic: no", false},
		{"an outage taken for a wrong set-up", code(78), "", false},
		{"crashed", syscall.WaitStatus(syscall.SIGSEGV), "", false},
	} {
		if got := explained(c.end, c.said); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
