package chaos

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// children owns all processes that the harness starts, and those that they leave
// behind: a guard whose elect was killed becomes a child of the harness. It waits for
// any child, so nothing else in this program may wait for one.
type children struct {
	orders chan func()
	owner  sync.WaitGroup

	mu      sync.Mutex
	known   map[int]*child
	closed  bool
	changed *sync.Cond // there are children again, or closed
}

// child is one started process.
type child struct {
	process
	owner *children
	done  chan struct{}
	end   syscall.WaitStatus // after done
}

func newChildren() (*children, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("chaos: orphans cannot be adopted on this system: %w", err)
	}
	c := &children{orders: make(chan func()), known: make(map[int]*child)}
	c.changed = sync.NewCond(&c.mu)
	c.owner.Go(func() {
		// The kernel kills a child when the thread that has started it ends. So this
		// one stays, and nothing is left when the harness is killed.
		runtime.LockOSThread()
		for start := range c.orders {
			start()
		}
	})
	c.owner.Go(c.reap)
	return c, nil
}

// start starts a program, with that file for its output and nothing to read.
func (c *children) start(argv, env []string, out *os.File) (*child, error) {
	type result struct {
		child *child
		err   error
	}
	done := make(chan result)
	c.orders <- func() {
		ch, err := c.fork(argv, env, out)
		done <- result{ch, err}
	}
	r := <-done
	return r.child, r.err
}

func (c *children) fork(argv, env []string, out *os.File) (*child, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	c.mu.Lock() // so that it is known before it can be waited for
	defer c.mu.Unlock()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{null.Fd(), out.Fd(), out.Fd()},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, fmt.Errorf("chaos: start %s: %w", argv[0], err)
	}
	ch := &child{owner: c, done: make(chan struct{})}
	ch.pid = pid
	if s, ok := look(pid); ok {
		ch.process = s.process
	}
	c.known[pid] = ch
	c.changed.Broadcast()
	return ch, nil
}

// reap waits for every child, until there is none and will be none.
func (c *children) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		c.mu.Lock()
		switch {
		case err == nil:
			if ch := c.known[pid]; ch != nil {
				delete(c.known, pid)
				ch.end = ws
				close(ch.done)
			}
		case errors.Is(err, syscall.ECHILD):
			for len(c.known) == 0 && !c.closed {
				c.changed.Wait()
			}
			if c.closed && len(c.known) == 0 {
				c.mu.Unlock()
				return
			}
		}
		c.mu.Unlock()
	}
}

// close waits until the last child, adopted ones included, is gone. Nothing may be
// started any more.
func (c *children) close() {
	close(c.orders)
	c.mu.Lock()
	c.closed = true
	c.changed.Broadcast()
	c.mu.Unlock()
	c.owner.Wait()
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
}

// kill signals the child, unless it was waited for.
func (ch *child) kill(sig syscall.Signal) {
	ch.owner.mu.Lock()
	defer ch.owner.mu.Unlock()
	if ch.owner.known[ch.pid] == ch {
		_ = syscall.Kill(ch.pid, sig)
	}
}
