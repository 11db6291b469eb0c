//go:build unix

package runcmd_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// patience is for what must happen, however slow the machine is.
const patience = time.Minute

// election is one object in an emulator of Cloud Storage.
type election struct {
	t      *testing.T
	server *gcs.Server
	object string
}

var emulator = sync.OnceValues(func() (*gcs.Server, error) {
	return gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
})

func newElection(t *testing.T) *election {
	t.Helper()
	s, err := emulator()
	if err != nil {
		t.Fatal(err)
	}
	return &election{t: t, server: s, object: fmt.Sprintf("%s-%d", t.Name(), elections.Add(1))}
}

// elections counts them: no two of one process share an object.
var elections atomic.Int64

// newElectionApart is an election in an emulator of its own, which may be closed.
func newElectionApart(t *testing.T) *election {
	t.Helper()
	s, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &election{t: t, server: s, object: t.Name()}
}

func (e *election) url() string { return "gs://elections/" + e.object }

// stored returns the entry that is stored now; its Nonce is "" when there is none.
func (e *election) stored() entry.RaceEntry {
	e.t.Helper()
	b, _, err := e.server.Contents("elections", e.object)
	if err != nil {
		return entry.RaceEntry{}
	}
	r, err := entry.Decode(b)
	if err != nil {
		e.t.Fatal(err)
	}
	return *r
}

// plant stores r as another writer would.
func (e *election) plant(r entry.RaceEntry) {
	e.t.Helper()
	b, err := entry.Encode(&r)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.server.Plant("elections", e.object, b); err != nil {
		e.t.Fatal(err)
	}
}

// other is an entry by which somebody else leads for term.
func other(term time.Duration) entry.RaceEntry {
	return entry.RaceEntry{
		LeaderID: "other", TermLength: term, TermExpiry: time.Now().Add(term),
		ElectionNumber: 1000, FencingToken: 1 << 40, Nonce: "other",
	}
}

// program is a running elect.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout output
	stderr output
	waited sync.Once
	code   int
}

// output is what a program has printed so far.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// start starts a command that is or becomes elect, as a process of its own.
func (e *election) start(cmd *exec.Cmd, stdin io.Reader) *program {
	e.t.Helper()
	p := &program{t: e.t, cmd: cmd}
	cmd.Env = e.environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &p.stdout, &p.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		p.wait()
		if e.t.Failed() {
			e.t.Logf("elect's stderr: %s", p.stderr.String())
		}
	})
	return p
}

// environ is what elect needs to find the election. Under the race detector a
// program sleeps for a second before it ends, unless it is told not to.
func (e *election) environ() []string {
	return append(os.Environ(), role+"=elect", "GORACE=atexit_sleep_ms=0", "STORAGE_EMULATOR_HOST="+e.server.Endpoint())
}

// run starts `elect run` on this election.
func (e *election) run(args ...string) *program {
	e.t.Helper()
	return e.runWith(nil, args...)
}

func (e *election) runWith(stdin io.Reader, args ...string) *program {
	e.t.Helper()
	return e.start(exec.Command(os.Args[0], append([]string{"run", "--store", e.url()}, args...)...), stdin)
}

// wait returns the exit code.
func (p *program) wait() int {
	p.waited.Do(func() {
		timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
		defer timer.Stop()
		err := p.cmd.Wait()
		p.code = p.cmd.ProcessState.ExitCode()
		if p.code == 0 && err != nil {
			p.code = -2
		}
	})
	return p.code
}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain waited until %s", what)
		}
	}
}

// pulse is the file of a COMMAND that beats.
type pulse struct {
	t    *testing.T
	file string
}

func newPulse(t *testing.T) pulse { return pulse{t, filepath.Join(t.TempDir(), "pulse")} }

func (p pulse) child() pulse { return pulse{p.t, p.file + ".child"} }

// last returns the last beat: process, its parent, and when.
func (p pulse) last() (pid, ppid int, at time.Time) {
	b, err := os.ReadFile(p.file)
	if err != nil {
		return 0, 0, time.Time{}
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1] // whole lines
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	var ns int64
	if n, _ := fmt.Sscan(lines[len(lines)-1], &pid, &ppid, &ns); n != 3 {
		return 0, 0, time.Time{}
	}
	return pid, ppid, time.Unix(0, ns)
}

// begin waits for the first beat.
func (p pulse) begin() (pid, guard int) {
	p.t.Helper()
	until(p.t, "COMMAND runs", func() bool { pid, guard, _ = p.last(); return pid != 0 })
	return pid, guard
}

// end waits until the process is gone, and returns its last beat.
func (p pulse) end() time.Time {
	p.t.Helper()
	pid, _ := p.begin()
	until(p.t, "COMMAND is gone", func() bool { return gone(pid) })
	_, _, at := p.last()
	return at
}

// gone tells whether a process has ended, waited for or not: a zombie beats no more.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(state, "Z")
}
