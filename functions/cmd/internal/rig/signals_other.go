//go:build !unix

package rig

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd) {}

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

const (
	sigKill = syscall.Signal(9)
	sigStop = syscall.Signal(19)
	sigCont = syscall.Signal(18)
)

func send(int, syscall.Signal) error {
	return errors.New("rig: this system cannot suspend processes: use Linux or macOS")
}
