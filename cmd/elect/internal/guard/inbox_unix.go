//go:build unix

package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// inbox is the reading end of the pipe with elect's orders. The guard must be able to
// take in what has arrived before it judges by what it knows: after a freeze the
// new ends of the term wait in the pipe. So it reads without waiting, on the
// goroutine that judges, and another one only tells that there is something.
type inbox struct {
	fd    int
	buf   []byte
	ended bool // elect is gone
}

// newInbox makes the pipe one that is read without waiting.
func newInbox(fd int) (*inbox, error) {
	return &inbox{fd: fd}, syscall.SetNonblock(fd, true)
}

// take returns the next order, if one has arrived.
func (b *inbox) take() (o order, ok bool) {
	for {
		if line, rest, found := bytes.Cut(b.buf, []byte("\n")); found {
			b.buf = rest
			if json.Unmarshal(line, &o) == nil {
				return o, true
			}
			b.buf, b.ended = nil, true // half a line: elect died over it
		}
		if b.ended {
			return order{}, false
		}
		var chunk [4096]byte
		n, err := syscall.Read(b.fd, chunk[:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return order{}, false
		case err != nil || n <= 0:
			b.ended = true
		default:
			b.buf = append(b.buf, chunk[:n]...)
		}
	}
}

// first waits for the first order.
func (b *inbox) first() (o order, ok bool) {
	for {
		if o, ok = b.take(); ok || b.ended {
			return o, ok
		}
		b.wait()
	}
}

// wait waits until something has arrived, or elect is gone: then more is false.
func (b *inbox) wait() (more bool) {
	fds := []unix.PollFd{{Fd: int32(b.fd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && fds[0].Revents&unix.POLLIN != 0
		}
	}
}

// announce tells on arrived that there is something to take. It closes arrived when
// nothing more can come.
func (b *inbox) announce(arrived chan<- struct{}) {
	defer close(arrived)
	for b.wait() {
		arrived <- struct{}{}
	}
}
