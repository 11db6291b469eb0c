package fencedlog

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock waits for the exclusive lock on one byte far behind the end of the file:
// locks on Windows would keep others from reading what they cover.
func lock(f *os.File) error {
	behind := &windows.Overlapped{OffsetHigh: 1 << 30}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, behind)
}
