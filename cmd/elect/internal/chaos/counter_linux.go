package chaos

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// counter is where COMMANDs come to the vault: a socket, so that the kernel tells who
// they are, and when they are gone.
type counter struct {
	vault    *vault
	listener *net.UnixListener
	serving  sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // nil: closed
}

func openCounter(v *vault, dir string) (*counter, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "vault"), Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("chaos: the fenced resource: %w", err)
	}
	c := &counter{vault: v, listener: l, conns: make(map[net.Conn]bool)}
	c.serving.Go(func() {
		for {
			conn, err := l.AcceptUnix()
			if err != nil {
				return
			}
			if c.enter(conn) {
				c.serving.Go(func() {
					defer c.exit(conn)
					c.serve(conn)
				})
			}
		}
	})
	return c, nil
}

func (c *counter) socket() string { return c.listener.Addr().String() }

// serve takes in one COMMAND's records until the connection ends.
func (c *counter) serve(conn *net.UnixConn) {
	in := bufio.NewReader(conn)
	var election int
	l := new(life)
	if _, err := fmt.Fscanf(in, "%d %d\n", &election, &l.token); err != nil || election < 0 || election >= len(c.vault.shelves) {
		return
	}
	if err := l.identify(conn); err != nil {
		// Killed before it was looked at; or this system tells nothing, and then no
		// reign is ever seen.
		return
	}
	c.vault.begin(election, l)
	defer c.vault.leave(election, l)
	for {
		var seq int
		if _, err := fmt.Fscanf(in, "%d\n", &seq); err != nil {
			return
		}
		answer := answerRefused
		if c.vault.append(election, l, seq) {
			answer = answerAccepted
			if c.vault.dismissed(l) {
				answer = answerDone
			}
		}
		if _, err := fmt.Fprintln(conn, answer); err != nil {
			return
		}
	}
}

// identify asks the kernel who is at the other end, and who has started it.
func (l *life) identify(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	if ctlErr := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); ctlErr != nil || err != nil {
		return fmt.Errorf("chaos: who is it: %w", err)
	}
	command, ok := look(int(peer.Pid))
	if !ok {
		return fmt.Errorf("chaos: process %d is gone", peer.Pid)
	}
	l.command = command.process
	// Who has lost its parent is a child of the harness, which nobody is to signal.
	if guard, ok := look(command.parent); ok && guard.pid != os.Getpid() {
		l.guard = guard.process
		if elect, ok := look(guard.parent); ok && elect.pid != os.Getpid() {
			l.elect = elect.process
		}
	}
	return nil
}

func (c *counter) enter(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		conn.Close()
		return false
	}
	c.conns[conn] = true
	return true
}

func (c *counter) exit(conn net.Conn) {
	conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
}

// close ends all connections and waits for everybody who serves one.
func (c *counter) close() {
	c.listener.Close()
	c.mu.Lock()
	for conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
	c.mu.Unlock()
	c.serving.Wait()
}
