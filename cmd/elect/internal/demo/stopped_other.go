//go:build !linux

package demo

import (
	"os"
	"time"
)

// isStopped tells whether a process that was sent SIGSTOP at a time has had long
// enough to stop. There is no portable way to ask.
func isStopped(_ *os.Process, sent int64) bool { return since(sent, hostNow()) > 200*time.Millisecond }
