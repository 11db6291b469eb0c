//go:build !unix

package demo

import (
	"errors"
	"os"
	"os/exec"
)

const canFreeze = false

var errCannot = errors.New("not possible on this system")

func freeze(*os.Process) error    { return errCannot }
func thaw(*os.Process) error      { return errCannot }
func terminate(*os.Process) error { return errCannot }
func detach(*exec.Cmd)            {}
