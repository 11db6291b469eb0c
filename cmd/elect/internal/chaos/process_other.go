//go:build !linux

package chaos

// process is a process of this host; on this system nothing is known of any.
type process struct{ pid int }

func (process) alive() bool { return false }
