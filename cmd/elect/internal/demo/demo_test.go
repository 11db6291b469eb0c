package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	electionpicture "github.com/cloudelect/cloudelect/core/timeline"
)

func cut(s string) (before, after string, found bool) { return strings.Cut(s, " ") }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// program is `elect demo` with args, in a process of its own, with all of its
// files in tmp.
func program(t *testing.T, args ...string) (cmd *exec.Cmd, tmp string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts processes and takes seconds (-short)")
	}
	tmp = t.TempDir()
	cmd = exec.Command(os.Args[0], append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), programVar+"=1", "TMPDIR="+tmp)
	t.Cleanup(func() { expectNothingLeft(t, tmp) })
	return cmd, tmp
}

// expectNothingLeft asserts that no worker and no file of a demo is left. Workers are
// found by the log that their command line names.
func expectNothingLeft(t *testing.T, tmp string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := processesWith(t, tmp)
		if left == "" {
			return
		}
		if time.Now().After(end) {
			t.Errorf("these processes are left: %s", left)
			return
		}
	}
}

func processesWith(t *testing.T, text string) (found string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		out, err := exec.Command("ps", "-axww", "-o", "pid,command").Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, text) {
				found += line
			}
		}
		return found
	}
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte(text)) {
			found += name + " "
		}
	}
	return found
}

// The whole demo, with the processes that it is about.
func TestDemo(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{
		{"--fast"}, {"--fast", "--json", "--workers", "4"},
		{"--fast", "--json", "--store", "s3"}, {"--fast", "--json", "--store", "dynamodb"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			drawn := filepath.Join(t.TempDir(), "demo.svg")
			cmd, tmp := program(t, append(flags, "--timeline", drawn)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil || stderr.Len() > 0 {
				t.Fatalf("demo: %v\n%s%s", err, out, &stderr)
			}
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(flags) > 1 && len(lines) != 1 {
				t.Errorf("with --json it printed\n%swant one line", out)
			}
			last := lines[len(lines)-1]
			var r result
			decoder := json.NewDecoder(strings.NewReader(last))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&r); err != nil {
				t.Fatalf("the last line is %q: %v", last, err)
			}
			if r.Overlaps != 0 || r.StaleWrites != 0 || r.Reigns < 4 || len(r.FencingTokens) != r.Reigns || r.Refused < 1 {
				t.Errorf("result %s; want no overlap, nothing stale, four reigns and a refusal", last)
			}
			if f := r.FailoverMS; f.Crash <= 0 || f.Freeze <= 0 || f.Resign < 0 {
				t.Errorf("failovers %+v, want all of them measured", f)
			}
			expectDrawn(t, drawn, "the process crashes", "a late write is refused", "resignation", "end of the term", "frozen (kill -STOP)", "renewals",
				fmt.Sprintf("fencing token %d", r.FencingTokens[0]))
			if files, _ := os.ReadDir(tmp); len(files) > 0 {
				t.Errorf("%v is left in the folder for temporary files", files)
			}
		})
	}
}

// expectDrawn asserts that there is a picture, which has these texts.
func expectDrawn(t *testing.T, path string, texts ...string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !electionpicture.IsPicture(b) {
		t.Errorf("it is no picture: %.200q", b)
	}
	for _, text := range texts {
		if !bytes.Contains(b, []byte(text)) {
			t.Errorf("the picture does not have %q", text)
		}
	}
}

// The fields of the last line are what scripts depend on.
func TestResultFields(t *testing.T) {
	var out bytes.Buffer
	err := cliutil.WriteJSON(&out, result{Reigns: 4, FencingTokens: []int64{7, 8}, FailoverMS: failover{1, 2, 3}, Refused: 1})
	want := `{"reigns":4,"overlaps":0,"fencing_tokens":[7,8],"failover_ms":{"crash":1,"freeze":2,"resign":3},"refused":1,"stale_writes":0}` + "\n"
	if err != nil || out.String() != want {
		t.Errorf("%s (%v), want %s", &out, err, want)
	}
}

// Whatever ends a demo in the middle, while a worker is frozen, nobody is left.
func TestNobodyIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{
		{syscall.SIGINT, cliutil.ExitSignal + 2},
		{syscall.SIGKILL, -1}, // nothing of it can clean up: the workers must notice
	} {
		t.Run(fmt.Sprint(c.signal), func(t *testing.T) {
			t.Parallel()
			drawn := filepath.Join(t.TempDir(), "demo.html")
			cmd, tmp := program(t, "--fast", "--timeline", drawn)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var out []byte
			for buf := make([]byte, 1000); !bytes.Contains(out, []byte("is frozen")); {
				n, err := stdout.Read(buf)
				if out = append(out, buf[:n]...); err != nil {
					t.Fatalf("%v after it printed\n%s", err, out)
				}
			}
			if processesWith(t, tmp) == "" {
				t.Fatal("no worker is found while the demo runs: this test tests nothing")
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Errorf("it ended with %v, want exit code %d", err, c.code)
			}
			if c.signal == syscall.SIGINT {
				expectDrawn(t, drawn, "frozen (kill -STOP)")
			}
		})
	}
}

// Workers that cannot run end the demo, with what they said.
func TestAWorkerThatFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell to fail with")
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no coffee >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for executable, says := range map[string]string{
		broken:                                  "has failed: no coffee",
		filepath.Join(t.TempDir(), "not-there"): "start worker-1",
	} {
		err := runHere(t, &bytes.Buffer{}, executable, "--fast", "--json")
		if cliutil.CodeOf(err) != cliutil.ExitFailed || !strings.Contains(err.Error(), says) {
			t.Errorf("demo = %v, want exit code %d and %q", err, cliutil.ExitFailed, says)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--store", "s3://b/k"}, "gcs, s3, dynamodb"},
		{[]string{"--store", ""}, "gcs, s3, dynamodb"},
		{[]string{"--workers", "2"}, "give 3 or more"},
		{[]string{"--workers", "0"}, "give 3 or more"},
		{[]string{"--workers", "-1"}, "give 3 or more"},
		{[]string{"--workers", "1000"}, "give 20 at most"},
		{[]string{"--timeline", "demo.png"}, ".svg or .html"},
		{[]string{"--timeline", "-"}, ".svg or .html"},
		{[]string{"--timeline", ""}, ".svg or .html"},
		{[]string{"--timeline", "no/such/folder/demo.svg"}, "cannot be written"},
		{[]string{"now"}, "no arguments"},
		{[]string{"worker"}, "run that"},
		{[]string{"worker", "--id", "x"}, "run that"},
	} {
		var out bytes.Buffer
		err := runHere(t, &out, os.Args[0], c.args...)
		if cliutil.CodeOf(err) != cliutil.ExitUsage || !strings.Contains(err.Error(), c.says) || out.Len() > 0 {
			t.Errorf("demo %v: %v, printed %q; want a usage error that says %q", c.args, err, &out, c.says)
		}
	}
}

func runHere(t *testing.T, out *bytes.Buffer, executable string, args ...string) error {
	t.Helper()
	cmd := New(&cliutil.Env{Stdout: out, Stderr: out, Stores: new(stores.Opener), Executable: executable})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return cmd.ExecuteContext(ctx)
}
