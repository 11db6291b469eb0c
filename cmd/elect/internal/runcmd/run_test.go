//go:build unix

package runcmd_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
)

// term is long enough for GCS, whose writes must be a second apart, and for a tenth
// of it to be long on a busy machine.
const term = 8 * time.Second

func TestCommandFindsItsLeadershipInTheEnvironment(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	p := e.run("--id", "me", "--", "sh", "-c", `echo "$ELECT_LEADER_ID $ELECT_FENCING_TOKEN $ELECT_STORE $1"; cat`, "sh", "--once")
	if code := p.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	s := e.stored()
	want := "me " + strconv.FormatInt(s.FencingToken, 10) + " " + e.url() + " --once\n"
	if got := p.stdout.String(); got != want {
		t.Errorf("COMMAND printed %q, want %q", got, want)
	}
	if !s.Vacant() || s.ElectionNumber != 1 {
		t.Errorf("stored afterwards: %+v, want the second version, vacant", s)
	}
	if p.stderr.String() != "" {
		t.Errorf("stderr: %q, want silence", p.stderr.String())
	}
}

func TestExitStatusPassesThrough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		want   int
	}{
		{"exit 7", 7},
		{"kill -KILL $$", 128 + 9},
		{"exit 255", 255},
	} {
		e := newElection(t)
		p := e.run("--", "sh", "-c", c.script)
		if got := p.wait(); got != c.want {
			t.Errorf("%q: exit code %d, want %d", c.script, got, c.want)
		}
		if s := e.stored(); !s.Vacant() {
			t.Errorf("%q: %s still leads", c.script, s.LeaderID)
		}
	}
}

func TestDefaultIDsDiffer(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	seen := map[string]bool{}
	for range 2 {
		p := e.run("--", "sh", "-c", "echo $ELECT_LEADER_ID")
		p.wait()
		seen[p.stdout.String()] = true
	}
	if len(seen) != 2 {
		t.Errorf("ids: %v, want two", seen)
	}
}

func TestCommandIsLookedForBeforeTheCampaign(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	file := newPulse(t).file
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		want    int
	}{
		{"no-such-command-anywhere", cliutil.ExitNotFound},
		{"./no/such/file", cliutil.ExitNotFound},
		{file, cliutil.ExitNotRunnable},
		{t.TempDir(), cliutil.ExitNotRunnable},
	} {
		p := e.run("--", c.command)
		if got := p.wait(); got != c.want {
			t.Errorf("%s: exit code %d, want %d", c.command, got, c.want)
		}
		if lines := strings.Count(p.stderr.String(), "\n"); lines != 1 || !strings.HasPrefix(p.stderr.String(), "elect: ") {
			t.Errorf("%s: stderr %q, want one line", c.command, p.stderr.String())
		}
	}
	if s := e.stored(); s.Nonce != "" {
		t.Errorf("stored: %+v, want nothing", s)
	}
}

// A script whose interpreter is missing is found out when it is started.
func TestCommandThatCannotBeStartedLeavesTheElectionVacant(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	file := newPulse(t).file
	if err := os.WriteFile(file, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := e.run("--", file)
	if got := p.wait(); got != cliutil.ExitNotFound {
		t.Errorf("exit code %d, want %d", got, cliutil.ExitNotFound)
	}
	if s := e.stored(); s.Nonce == "" || !s.Vacant() {
		t.Errorf("stored: %+v, want a resignation", s)
	}
}

func TestNotElected(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--once"}, {"--wait", "300ms"}} {
		e := newElection(t)
		e.plant(other(time.Hour))
		p := e.run(append(flags, "--", "sh", "-c", "echo ran")...)
		if got := p.wait(); got != cliutil.ExitNotElected {
			t.Errorf("%v: exit code %d, want %d", flags, got, cliutil.ExitNotElected)
		}
		if p.stdout.String() != "" {
			t.Errorf("%v: COMMAND ran", flags)
		}
		if !strings.Contains(p.stderr.String(), `"other" leads`) {
			t.Errorf("%v: stderr %q does not say who leads", flags, p.stderr.String())
		}
	}
}

func TestSignalWhileWaitingEndsElect(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	e.plant(other(time.Hour))
	p := e.run("--", "sh", "-c", "echo ran")
	until(t, "elect says that it waits", func() bool { return strings.Contains(p.stderr.String(), `waiting: "other" leads`) })
	p.signal(syscall.SIGTERM)
	if got := p.wait(); got != 128+15 {
		t.Errorf("exit code %d, want 143", got)
	}
	if e.stored().LeaderID != "other" {
		t.Error("the entry was touched")
	}
}

func TestMinHoldKeepsTheElectionClosed(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	if code := e.run("--min-hold", "1h", "--", "true").wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if s := e.stored(); !s.Held {
		t.Errorf("stored: %+v, want a Held entry", s)
	}
	p := e.run("--once", "--min-hold", "1h", "--", "true")
	if code := p.wait(); code != cliutil.ExitNotElected || !strings.Contains(p.stderr.String(), "--min-hold") {
		t.Errorf("exit code %d, stderr %q", code, p.stderr.String())
	}
}

func TestStoreThatCannotBeReached(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	run := func(host, bucket string) *program {
		return e.start(exec.Command("sh", "-c", `export STORAGE_EMULATOR_HOST="${1:-$STORAGE_EMULATOR_HOST}"; shift; exec "$@"`,
			"sh", host, os.Args[0], "run", "--once", "--store", "gs://"+bucket+"/object", "--", "true"), nil)
	}
	if p := run("", "no-such-bucket"); p.wait() != cliutil.ExitBroken {
		t.Errorf("missing bucket: exit code %d, want %d: %s", p.wait(), cliutil.ExitBroken, p.stderr.String())
	}
	p := run("127.0.0.1:1", "elections")
	if p.wait() != cliutil.ExitUnavailable || strings.Count(p.stderr.String(), "\n") != 1 {
		t.Errorf("nobody listens: exit code %d, want %d and one line: %s", p.wait(), cliutil.ExitUnavailable, p.stderr.String())
	}
}

func TestSigtermStopsCommandAndThenResigns(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	file := newPulse(t).file
	p := e.run("--", "sh", "-c", `trap 'echo stopped; exit 5' TERM; : > `+file+`; while :; do sleep 0.05; done`)
	until(t, "COMMAND runs", func() bool { _, err := os.Stat(file); return err == nil })
	p.signal(syscall.SIGTERM)
	if got := p.wait(); got != 5 {
		t.Errorf("exit code %d, want COMMAND's 5", got)
	}
	if p.stdout.String() != "stopped\n" {
		t.Errorf("stdout %q", p.stdout.String())
	}
	if s := e.stored(); !s.Vacant() {
		t.Errorf("%s still leads", s.LeaderID)
	}
}

// A COMMAND that takes no heed is killed by the second signal, and its term is
// renewed until then.
func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	e, pulse := newElection(t), newPulse(t)
	p := e.run("--term", term.String(), "--grace", "1h", "--", os.Args[0], "beat", pulse.file)
	pulse.begin()
	p.signal(syscall.SIGINT)
	n := e.stored().ElectionNumber
	until(t, "a renewal while COMMAND is stopping", func() bool { return e.stored().ElectionNumber > n })
	p.signal(syscall.SIGINT)
	if got := p.wait(); got != 128+9 {
		t.Errorf("exit code %d, want 137", got)
	}
	pulse.end()
	if s := e.stored(); !s.Vacant() {
		t.Errorf("%s still leads", s.LeaderID)
	}
}

func TestOtherSignalsArePassedOn(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	file := newPulse(t).file
	p := e.run("--", "sh", "-c", `trap 'exit 6' USR1; : > `+file+`; while :; do sleep 0.05; done`)
	until(t, "COMMAND runs", func() bool { _, err := os.Stat(file); return err == nil })
	p.signal(syscall.SIGUSR1)
	if got := p.wait(); got != 6 {
		t.Errorf("exit code %d, want 6", got)
	}
}

func TestWhatCommandLeavesBehindIsGoneBeforeTheResignation(t *testing.T) {
	t.Parallel()
	e, pulse := newElection(t), newPulse(t)
	p := e.run("--term", term.String(), "--", "sh", "-c", os.Args[0]+` beat `+pulse.file+` & exit 4`)
	if got := p.wait(); got != 4 {
		t.Errorf("exit code %d, want 4", got)
	}
	if pid, _, _ := pulse.last(); pid != 0 && !gone(pid) {
		t.Errorf("process %d of COMMAND's group outlived elect", pid)
	}
	if s := e.stored(); !s.Vacant() {
		t.Errorf("%s still leads", s.LeaderID)
	}
}

// A copy of the guard's pipes in COMMAND would hide the guard's death from elect.
func TestCommandInheritsNothingButTheStandardFiles(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	p := e.run("--", "sh", "-c", `for fd in 3 4 5 6 7 8 9; do (eval "true <&$fd") 2>/dev/null && echo $fd; done; true`)
	if code := p.wait(); code != 0 || p.stdout.String() != "" {
		t.Errorf("exit code %d, open files %q, want none", code, p.stdout.String())
	}
}

func TestInputAndOutputPassThrough(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	p := e.runWith(strings.NewReader("in\n"), "--", "sh", "-c", "cat; echo err >&2")
	if code := p.wait(); code != 0 || p.stdout.String() != "in\n" || p.stderr.String() != "err\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, p.stdout.String(), p.stderr.String())
	}
}

// What nohup wants ignored stays so, for COMMAND too.
func TestIgnoredSignalStaysIgnored(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	p := e.start(exec.Command("sh", "-c", `trap '' HUP; exec "$@"`, "sh",
		os.Args[0], "run", "--store", e.url(), "--", "sh", "-c", "kill -HUP $$; kill -HUP $PPID; echo lives"), nil)
	if code := p.wait(); code != 0 || p.stdout.String() != "lives\n" {
		t.Errorf("exit code %d, stdout %q", code, p.stdout.String())
	}
}
