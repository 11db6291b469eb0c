package demo

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// report is a message and who sent it.
type report struct {
	from *process
	message
}

// process is one worker process, from its start to its end.
type process struct {
	row  int    // of the timeline; its successor has the same
	name string // of the row
	cmd  *exec.Cmd
	// leaving: it was told to end, so its end is no failure.
	leaving bool
	stdin   io.Closer
	stderr  tail
}

// crew owns the worker processes: whatever happens, dismiss leaves none.
type crew struct {
	executable string
	environ    []string // in addition to the parent's
	flags      []string

	reports chan report
	quit    chan struct{} // closed by dismiss: nobody reads reports any more
	readers sync.WaitGroup
	all     []*process
}

func newCrew(executable string, environ, flags []string) *crew {
	return &crew{executable: executable, environ: environ, flags: flags,
		reports: make(chan report, 256), quit: make(chan struct{})}
}

// hire starts a worker for a row. Its reports, and at last one that it has
// exited, come out of c.reports.
func (c *crew) hire(row int, name string) (*process, error) {
	p := &process{row: row, name: name}
	id := fmt.Sprintf("%s-%d", name, len(c.all)+1) // never the one of a predecessor
	p.cmd = exec.Command(c.executable, append([]string{"demo", "worker", "--id", id, "--name", name}, c.flags...)...)
	p.cmd.Env = append(os.Environ(), c.environ...)
	p.cmd.Stderr = &p.stderr
	detach(p.cmd)
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("demo: start %s: %w", name, err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("demo: start %s: %w", name, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("demo: start %s: %w", name, err)
	}
	p.stdin = stdin
	c.all = append(c.all, p)
	c.readers.Go(func() {
		c.read(p, stdout)
		_ = p.cmd.Wait() // how it ended is in ProcessState
		c.send(report{p, message{Kind: kindExited, At: hostNow()}})
	})
	return p, nil
}

// read passes on what p prints. A line that a kill has cut off is left out.
func (c *crew) read(p *process, stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			c.send(report{p, m})
		}
	}
}

func (c *crew) send(r report) {
	select {
	case c.reports <- r:
	case <-c.quit:
	}
}

// signal does something to a process that the script chose; that it is gone
// already is found out by its report.
func (c *crew) signal(p *process, do func(*os.Process) error) { _ = do(p.cmd.Process) }

// dismiss kills whoever is left, stopped ones too, and waits for all of them.
func (c *crew) dismiss() {
	close(c.quit)
	for _, p := range c.all {
		c.signal(p, (*os.Process).Kill)
		p.stdin.Close()
	}
	c.readers.Wait()
}

// complaint is what a process that failed has said.
func (p *process) complaint() string {
	text := strings.TrimSpace(p.stderr.String())
	if text == "" {
		return p.cmd.ProcessState.String()
	}
	return text
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 2000
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	t.b = t.b[max(len(t.b)-most, 0):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// since is the time between two readings of hostNow.
func since(from, to int64) time.Duration { return time.Duration(to - from) }
