package runcmd_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cli"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// role is the variable that makes this test's program something else: elect, its
// guard (which inherits it), or a COMMAND.
const role = "ELECT_TEST_ROLE"

func TestMain(m *testing.M) {
	// COMMAND is told by its name, because it inherits elect's environment.
	if len(os.Args) == 3 && os.Args[1] == "beat" {
		beat(os.Args[2], false)
	}
	if len(os.Args) == 3 && os.Args[1] == "beat-with-child" {
		beat(os.Args[2], true)
	}
	if os.Getenv(role) == "elect" {
		exe, err := os.Executable()
		if err != nil {
			panic(err)
		}
		os.Exit(cli.Main(context.Background(), os.Args[1:], &cliutil.Env{
			Stdout: os.Stdout, Stderr: os.Stderr, Stores: new(stores.Opener), Executable: exe,
		}))
	}
	os.Exit(m.Run())
}

// beat is a COMMAND that takes no heed of SIGTERM and appends the time to a file
// as long as it lives, so that a test can see in the file, afterwards and
// however slow the machine is, when it lived. A child does the same.
func beat(file string, withChild bool) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(3)
	}
	if withChild {
		if err := exec.Command(os.Args[0], "beat", file+".child").Start(); err != nil {
			os.Exit(3)
		}
	}
	for {
		fmt.Fprintf(f, "%d %d %d\n", os.Getpid(), os.Getppid(), time.Now().UnixNano())
		time.Sleep(20 * time.Millisecond)
	}
}
