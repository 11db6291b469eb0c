// Package fencedlog is a log file that many processes append to and that lets no
// leader of the past write: a resource with a fence, as small as it can be.
//
// Every append carries the fencing token of its writer's reign. It is accepted
// only if the last accepted one had no higher token; comparing and writing
// happen under one lock on the file, so nobody comes in between. That holds
// whatever clocks, pauses and the network do, which is what an election alone
// can't promise: a leader may be stopped after it has checked that it leads and
// before it writes.
//
// A line is the time (RFC 3339, UTC), the worker and the fencing token, separated
// by spaces. What was refused is written to a second file beside it, path +
// ".refused", in the same form.
package fencedlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// ErrStale is what a refused append Is: somebody with a higher fencing token
// has written before.
var ErrStale = errors.New("fencedlog: refused: the fencing token is of a reign of the past")

// ErrNotNoted is what a refused append Is besides, if the refusal could not be written
// down.
var ErrNotNoted = errors.New("fencedlog: a refusal could not be noted")

// StaleError is a refused append. It Is ErrStale.
type StaleError struct {
	Token int64 // what the append carried
	Last  int64 // the token of the last accepted append, which is higher
}

// Error names both tokens.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %d is lower than %d", ErrStale, e.Token, e.Last)
}

// Is makes every StaleError an ErrStale.
func (*StaleError) Is(target error) bool { return target == ErrStale }

// Log is the file. It holds nothing open between calls, and its methods may be
// called by any number of goroutines and processes.
type Log struct{ path string }

// New returns the log in the file path, which the first append creates.
func New(path string) *Log { return &Log{path: path} }

// Append writes one line. It waits for its turn as long as that takes. nil means
// written; an error that Is ErrStale means refused, and noted as such unless it Is
// ErrNotNoted too; any other error means that nothing was written.
func (l *Log) Append(at time.Time, worker string, token int64) error {
	if worker == "" || len(worker) > maxName || strings.ContainsFunc(worker, func(r rune) bool { return r <= ' ' }) {
		return fmt.Errorf("fencedlog: worker %.80q: give a name without spaces, of at most %d bytes", worker, maxName)
	}
	f, err := l.locked()
	if err != nil {
		return err
	}
	defer f.Close() // and with it the lock
	end, last, err := tail(f)
	if err != nil {
		return err
	}
	r := Record{At: at, Worker: worker, Token: token}
	if last != nil && token < last.Token {
		stale := &StaleError{Token: token, Last: last.Token}
		if err := l.note(r); err != nil {
			return fmt.Errorf("%w: %w (%w)", ErrNotNoted, err, stale)
		}
		return stale
	}
	return write(f, end, r)
}

// Hold keeps every append waiting until release is called. Somebody who must not
// be stopped in the middle of one can be stopped now.
func (l *Log) Hold() (release func(), err error) {
	f, err := l.locked()
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// locked opens the file and waits for the only lock on it. Closing releases it,
// and so does the death of the process.
func (l *Log) locked() (*os.File, error) {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("fencedlog: %w", err)
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("fencedlog: lock %s: %w", l.path, err)
	}
	return f, nil
}

// note writes down a refusal. The log's lock is held, and covers this file too.
func (l *Log) note(r Record) error {
	f, err := os.OpenFile(l.path+refusedSuffix, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("fencedlog: %w", err)
	}
	defer f.Close()
	end, _, err := tail(f)
	if err != nil {
		return err
	}
	return write(f, end, r)
}

const refusedSuffix = ".refused"

// write puts r at the end of f. Half a line, on a full disk say, is taken back.
func write(f *os.File, end int64, r Record) error {
	if _, err := f.WriteAt([]byte(r.line()), end); err != nil {
		return fmt.Errorf("fencedlog: append: %w", errors.Join(err, f.Truncate(end)))
	}
	return nil
}

const (
	maxName = 256
	maxLine = 4 << 10 // more than any line that is ever written has
)

// tail returns where the next line goes, and the last line, or nil when there
// is none. A line without its end was cut off by a crash and is not there.
func tail(f *os.File) (end int64, last *Record, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, nil, fmt.Errorf("fencedlog: %w", err)
	}
	from := max(size-2*maxLine, 0)
	b := make([]byte, size-from)
	if _, err := f.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, fmt.Errorf("fencedlog: read %s: %w", f.Name(), err)
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	if whole == 0 {
		if from > 0 {
			return 0, nil, fmt.Errorf("fencedlog: %s: not a log of this kind; choose another file", f.Name())
		}
		return 0, nil, f.Truncate(0)
	}
	end = from + int64(whole)
	if end < size {
		if err := f.Truncate(end); err != nil {
			return 0, nil, fmt.Errorf("fencedlog: %w", err)
		}
	}
	line := b[bytes.LastIndexByte(b[:whole-1], '\n')+1 : whole-1]
	r, err := parse(string(line))
	if err != nil {
		return 0, nil, fmt.Errorf("fencedlog: %s: %w; choose another file", f.Name(), err)
	}
	return end, &r, nil
}

// Records returns what was accepted, in order; nothing when there is no file.
func (l *Log) Records() ([]Record, error) { return read(l.path) }

// Refused returns what was refused, in order.
func (l *Log) Refused() ([]Record, error) { return read(l.path + refusedSuffix) }

func read(path string) ([]Record, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fencedlog: %w", err)
	}
	var records []Record
	for line := range strings.Lines(string(b)) {
		if !strings.HasSuffix(line, "\n") {
			break // being written, or cut off
		}
		r, err := parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("fencedlog: %s: %w", path, err)
		}
		records = append(records, r)
	}
	return records, nil
}
