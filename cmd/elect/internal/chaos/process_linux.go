package chaos

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// process is a process of this host, told from a later one with the same number by when
// it was started.
type process struct {
	pid     int
	started string
}

// status is what the kernel says about a process.
type status struct {
	process
	state  byte // as in proc(5): R S D T Z ...
	parent int
}

// look asks the kernel about a process.
func look(pid int) (status, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return status{}, false
	}
	// The name, in parentheses, may contain anything.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 {
		return status{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	return status{process{pid, fields[19]}, fields[0][0], parent}, err == nil
}

// alive: it is there, be it stopped, and not only waiting to be waited for.
func (p process) alive() bool {
	now, ok := look(p.pid)
	return ok && now.started == p.started && now.state != 'Z' && now.state != 'X'
}

// signal signals it, unless it is gone.
func (p process) signal(sig syscall.Signal) {
	if p.pid > 1 && p.alive() {
		_ = syscall.Kill(p.pid, sig)
	}
}

// handles counts the file descriptors of a process.
func handles(pid string) int {
	names, err := os.ReadDir("/proc/" + pid + "/fd")
	if err != nil {
		return 0
	}
	return len(names)
}

// marked are the processes whose environment contains that line.
func marked(line string) []status {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []status
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err != nil || !bytes.Contains(environ, []byte(line)) {
			continue
		}
		if s, ok := look(pid); ok && s.state != 'Z' && s.state != 'X' {
			found = append(found, s)
		}
	}
	return found
}
