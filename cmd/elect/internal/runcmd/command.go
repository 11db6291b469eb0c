package runcmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
)

// findCommand returns the file that name stands for. It is looked for before the
// campaign: whoever cannot work should not lead.
func findCommand(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return filepath.Abs(path)
	case errors.Is(err, exec.ErrDot):
		return "", cliutil.Exit(cliutil.ExitNotFound, "%s is found in the current directory only: write ./%s if you mean it", name, name)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOEXEC):
		return "", cliutil.Exit(cliutil.ExitNotRunnable, "%s cannot be run: make it an executable file (chmod +x), or name one", name)
	}
	return "", cliutil.Exit(cliutil.ExitNotFound, "%s was not found: check its name and PATH", name)
}

// defaultID is a name that no other candidate has: hosts share names, containers
// share process ids, so neither is enough.
func defaultID() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown-host"
	}
	var b [4]byte
	rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s-%d-%x", host, os.Getpid(), b)
}
