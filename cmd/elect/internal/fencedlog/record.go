package fencedlog

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Record is one line.
type Record struct {
	At     time.Time // on the writer's wall clock
	Worker string
	Token  int64
}

func (r Record) line() string {
	return fmt.Sprintf("%s %s %d\n", r.At.UTC().Format(time.RFC3339Nano), r.Worker, r.Token)
}

func parse(line string) (Record, error) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 {
		return Record{}, fmt.Errorf("line %.80q is not a time, a worker and a fencing token", line)
	}
	at, err := time.Parse(time.RFC3339Nano, fields[0])
	if err != nil {
		return Record{}, fmt.Errorf("line %.80q does not begin with a time", line)
	}
	token, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return Record{}, fmt.Errorf("line %.80q does not end with a fencing token", line)
	}
	return Record{At: at, Worker: fields[1], Token: token}, nil
}

// Stale counts the records that a fence should have refused: those whose token is
// lower than one before them. It is how to check a log without trusting the
// code that wrote it.
func Stale(records []Record) int {
	n, highest := 0, int64(0)
	for i, r := range records {
		if i > 0 && r.Token < highest {
			n++
			continue
		}
		highest = r.Token
	}
	return n
}
