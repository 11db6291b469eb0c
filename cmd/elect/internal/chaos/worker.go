package chaos

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// recordEvery is how often a COMMAND writes.
const recordEvery = 40 * time.Millisecond

// What the resource answers to a record.
const (
	answerAccepted = "accepted"
	answerRefused  = "refused"
	answerDone     = "done" // accepted, and there is nothing more to do
)

// Worker is the COMMAND: it writes record after record with its fencing token, until
// somebody stops it, and goes on when it is refused. Its arguments are the socket of the
// resource, the number of the election, and "stubborn" if it ignores SIGTERM. It
// returns the exit code.
func Worker(args []string, stderr io.Writer) int {
	if len(args) != 3 {
		fmt.Fprintln(stderr, "chaos: a worker is started by chaos itself")
		return 64
	}
	if args[2] == stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	err := work(args[0], args[1], os.Getenv("ELECT_FENCING_TOKEN"))
	if err != nil {
		fmt.Fprintf(stderr, "chaos: worker: %v\n", err)
		return 1
	}
	return 0
}

const (
	stubborn = "stubborn"
	polite   = "polite"
)

func work(socket, election, token string) error {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "%s %s\n", election, token); err != nil {
		return err
	}
	answers := bufio.NewReader(c)
	for seq := 1; ; seq++ {
		if _, err := fmt.Fprintf(c, "%d\n", seq); err != nil {
			return err
		}
		answer, err := answers.ReadString('\n')
		if err != nil || strings.TrimSpace(answer) == answerDone {
			return err
		}
		time.Sleep(recordEvery)
	}
}
