//go:build unix

package runcmd_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cli"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// behind puts a proxy between elect and the store.
func behind(e *election) *netfault.Proxy {
	e.t.Helper()
	p, err := netfault.Listen(e.server.URL(), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(p.Close)
	return p
}

// runBehind is run through the proxy.
func (e *election) runBehind(p *netfault.Proxy, args ...string) *program {
	e.t.Helper()
	return e.start(exec.Command("env", append([]string{"STORAGE_EMULATOR_HOST=" + p.Endpoint(), os.Args[0], "run", "--store", e.url()}, args...)...), nil)
}

func inject(t *testing.T, p *netfault.Proxy, f netfault.Fault) {
	t.Helper()
	if err := p.Inject(f); err != nil {
		t.Fatal(err)
	}
}

func says(t *testing.T, p *program, text string) {
	t.Helper()
	if got := strings.Count(p.stderr.String(), text); got != 1 {
		t.Errorf("stderr says %q %d times, want once: %s", text, got, p.stderr.String())
	}
}

// With a store that hangs, elect ends all the same: after a while by itself, and at
// once when it is asked to twice.
func TestResigningIsBounded(t *testing.T) {
	t.Parallel()
	// Two of a kind that are pending at once are one; these are not.
	for _, signals := range [][]syscall.Signal{nil, {syscall.SIGTERM, syscall.SIGINT}} {
		e := newElection(t)
		proxy := behind(e)
		runs, end := newPulse(t).file, newPulse(t).file
		p := e.runBehind(proxy, "--term", "1h", "--", "sh", "-c", `: > `+runs+`; while [ ! -e `+end+` ]; do sleep 0.05; done; exit 3`)
		until(t, "COMMAND runs", func() bool { _, err := os.Stat(runs); return err == nil })
		inject(t, proxy, netfault.Fault{Kind: netfault.Hang})
		if err := os.WriteFile(end, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		until(t, "elect says what it waits for", func() bool { return strings.Contains(p.stderr.String(), "COMMAND has ended; resigning") })
		for _, signal := range signals {
			p.signal(signal)
		}
		if got := p.wait(); got != 3 {
			t.Errorf("exit code %d, want COMMAND's 3", got)
		}
		says(t, p, "COMMAND has ended; resigning")
		if len(signals) > 0 {
			says(t, p, "did not resign, as a second signal")
		} else {
			says(t, p, "resignation not confirmed")
		}
	}
}

func TestStoreThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	proxy := behind(e)
	inject(t, proxy, netfault.Fault{Kind: netfault.Status, Status: 503, WritesOnly: true})
	p := e.runBehind(proxy, "--wait", "3s", "--", "true")
	if got := p.wait(); got != cliutil.ExitUnavailable {
		t.Errorf("--wait: exit code %d, want %d", got, cliutil.ExitUnavailable)
	}
	says(t, p, "waiting: the store does not take writes")
	says(t, p, "the election is free, but the store did not take the write")
	p = e.runBehind(proxy, "--once", "--", "true")
	if got := p.wait(); got != cliutil.ExitUnavailable {
		t.Errorf("--once: exit code %d, want %d", got, cliutil.ExitUnavailable)
	}
	says(t, p, "the election is free, but the store did not take the write")
}

func TestRefusedRenewalsAreNamed(t *testing.T) {
	t.Parallel()
	e := newElection(t)
	proxy := behind(e)
	runs := newPulse(t).file
	p := e.runBehind(proxy, "--term", term.String(), "--", "sh", "-c", `: > `+runs+`; sleep 1000`)
	until(t, "COMMAND runs", func() bool { _, err := os.Stat(runs); return err == nil })
	inject(t, proxy, netfault.Fault{Kind: netfault.Status, Status: 403, WritesOnly: true})
	if got := p.wait(); got != cliutil.ExitLost {
		t.Errorf("exit code %d, want %d", got, cliutil.ExitLost)
	}
	if _, after, ok := strings.Cut(p.stderr.String(), "when this is mended"); !ok || !strings.Contains(after, "403") {
		t.Errorf("stderr does not say why: %s", p.stderr.String())
	}
}

// What took the entry's place is told as what it is.
func TestWhatReplacedTheEntry(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(o *stores.Opener)
		says string
	}{
		"deleted": {func(o *stores.Opener) { o.Memory("x").Delete() }, "somebody deleted its entry"},
		"rubbish": {func(o *stores.Opener) { o.Memory("x").PlantRaw([]byte("rubbish")) }, "something that is no entry replaced"},
		"escapes": {func(o *stores.Opener) { o.Memory("x").Lead("\x1b[31mred", time.Hour) }, `"\x1b[31mred" leads with fencing token 2`},
	} {
		t.Run(name, func(t *testing.T) {
			pulse := newPulse(t)
			opener, stderr, code := inProcess(t.Context(), t, "--renew", "50ms", "--grace", "100ms", "--", os.Args[0], "beat", pulse.file)
			pulse.begin()
			c.do(opener)
			if got := <-code; got != cliutil.ExitLost || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("exit code %d, stderr %q, want 76 and %q", got, stderr.String(), c.says)
			}
		})
	}
}

// A guard that was stopped for longer than its term goes on if elect has led on.
func TestGuardStoppedWhileElectLeads(t *testing.T) {
	t.Parallel()
	e, pulse := newElection(t), newPulse(t)
	p := e.run("--term", term.String(), "--grace", "100ms", "--", os.Args[0], "beat", pulse.file)
	_, guard := pulse.begin()
	end := e.stored().TermExpiry
	if err := syscall.Kill(guard, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the guard's term is over, and another one runs", func() bool {
		return time.Now().After(end) && time.Until(e.stored().TermExpiry) > term/2
	})
	if err := syscall.Kill(guard, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	gone := time.Now().Add(time.Second)
	until(t, "COMMAND goes on", func() bool { _, _, at := pulse.last(); return at.After(gone) })
	p.signal(syscall.SIGTERM)
	if got := p.wait(); got != 128+9 {
		t.Errorf("exit code %d, want 137", got)
	}
}

func TestRunUsage(t *testing.T) {
	for want, flags := range map[string][]string{
		"control characters": {"--id", "a\nb"},
		`"\x1b[31m"`:         {"--id", "\x1b[31m"},
		"too short":          {"--poll", "1ns"},
		"--term must be at least 2s for this store": {"--store", "gs://bucket/object", "--term", "1ms"},
		"--renew 1s is more than half of --term 1s": {"--store", "gs://bucket/object", "--term", "1s", "--renew", "1s"},
	} {
		t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1") // nothing is sent
		var stderr output
		args := append([]string{"run", "--store", "mem://x"}, append(flags, "--", "true")...)
		code := cli.Main(context.Background(), args, &cliutil.Env{Stdout: os.Stdout, Stderr: &stderr, Stores: new(stores.Opener), Executable: os.Args[0]})
		if code != cliutil.ExitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: exit code %d, stderr %q; want 64 and %q", flags, code, stderr.String(), want)
		}
	}
}
