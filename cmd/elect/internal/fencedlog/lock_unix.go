//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fencedlog

import (
	"errors"
	"os"
	"syscall"
)

// lock waits for the exclusive lock. It belongs to the open file, not to the
// process, so it keeps the goroutines of one process apart as well.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
