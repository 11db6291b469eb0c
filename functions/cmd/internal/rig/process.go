package rig

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Process is a program that runs. Its lines are kept, for who waits for one and for
// the message when something goes wrong.
type Process struct {
	Name  string
	cmd   *exec.Cmd
	gone  chan struct{} // closed when it has ended
	said  chan struct{} // closed when nobody can print any more, neither it nor its children
	mu    sync.Mutex
	lines []string
	more  chan struct{} // closed and renewed with each line
}

// Start runs a program with these variables and no others but PATH and TMPDIR. The
// caller ends it with Close.
func Start(name string, env []string, path string, args ...string) (*Process, error) {
	p := &Process{Name: name, cmd: exec.Command(path, args...), gone: make(chan struct{}), said: make(chan struct{}), more: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, env...)
	ownGroup(p.cmd) // Ctrl-C is for whoever started the play, who then ends the others in order
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("rig: %s: %w", name, err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("rig: start %s: %w", name, err)
	}
	go func() {
		defer close(p.said)
		p.read(r)
		r.Close()
	}()
	go func() {
		_ = p.cmd.Wait()
		close(p.gone)
	}()
	return p, nil
}

func (p *Process) read(r io.Reader) {
	for sc := bufio.NewScanner(r); sc.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines, sc.Text())
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
	}
}

// Lines are what it has printed so far.
func (p *Process) Lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// Await waits for a line that match accepts, which may be one that came before.
func (p *Process) Await(ctx context.Context, what string, match func(line string) bool) (string, error) {
	seen, over := 0, false
	for {
		p.mu.Lock()
		fresh, more := p.lines[seen:], p.more
		seen = len(p.lines)
		p.mu.Unlock()
		for _, line := range fresh {
			if match(line) {
				return line, nil
			}
		}
		if over {
			return "", fmt.Errorf("rig: %s ended without a line with %s; it printed %q", p.Name, what, p.Lines())
		}
		select {
		case <-more:
		case <-ctx.Done():
			return "", fmt.Errorf("rig: %s: no line with %s: %w", p.Name, what, context.Cause(ctx))
		case <-p.gone:
			p.finish(ctx)
			over = true // but for what it wrote last
		}
	}
}

// finish waits for what a process that has ended wrote last. A child of it that
// lives on may keep that open.
func (p *Process) finish(ctx context.Context) {
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case <-p.said:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Wait waits for its end, and for all its lines, and returns the exit code, 128+n for one that signal n ended.
func (p *Process) Wait(ctx context.Context) (int, error) {
	select {
	case <-p.gone:
		p.finish(ctx)
		return exitCode(p.cmd.ProcessState), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("rig: %s does not end: %w", p.Name, context.Cause(ctx))
	}
}

// Signal sends it a signal. One that has ended already is no error.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("rig: signal %v to %s: %w", s, p.Name, err)
	}
	return nil
}

// Close kills it, if it still runs, and waits for its end.
func (p *Process) Close() {
	_ = p.cmd.Process.Kill()
	<-p.gone
}
