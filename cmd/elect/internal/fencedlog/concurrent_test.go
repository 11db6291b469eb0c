package fencedlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// hammer appends as a worker whose reign comes and goes: with rising tokens, and
// with old ones in between. It returns how many were accepted and refused.
func hammer(l *Log, worker string, rounds int) (accepted, refused int, err error) {
	for i := range rounds {
		token := int64(i)
		if i%5 == 4 {
			token -= 3
		}
		switch err := l.Append(noon, worker, token); {
		case err == nil:
			accepted++
		case errors.Is(err, ErrStale):
			refused++
		default:
			return accepted, refused, err
		}
	}
	return accepted, refused, nil
}

// check asserts that nothing got lost, and that no accepted token is lower than
// one before it.
func check(t *testing.T, l *Log, accepted, refused int) {
	t.Helper()
	records, err := l.Records()
	if err != nil {
		t.Fatal(err)
	}
	if n := Stale(records); n != 0 {
		t.Errorf("%d stale writes were accepted", n)
	}
	late, err := l.Refused()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != accepted || len(late) != refused {
		t.Errorf("the log has %d lines and %d refusals, its writers were told %d and %d",
			len(records), len(late), accepted, refused)
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d accepted, %d refused: this test has tested nothing", accepted, refused)
	}
}

func TestManyGoroutines(t *testing.T) {
	l := newLog(t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	accepted, refused := 0, 0
	for w := range 8 {
		wg.Go(func() {
			a, r, err := hammer(New(l.path), fmt.Sprint("w", w), 100)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			accepted, refused = accepted+a, refused+r
		})
	}
	wg.Wait()
	check(t, l, accepted, refused)
}

const helperVar = "FENCEDLOG_TEST_HELPER"

// TestHelperProcess is no test: TestManyProcesses runs it in processes of its own.
func TestHelperProcess(t *testing.T) {
	path := os.Getenv(helperVar)
	if path == "" {
		t.Skip("it belongs to TestManyProcesses")
	}
	a, r, err := hammer(New(path), "p"+strconv.Itoa(os.Getpid()), 200)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "%d %d", a, r)
}

func TestManyProcesses(t *testing.T) {
	l := newLog(t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	accepted, refused := 0, 0
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestHelperProcess$")
			cmd.Env = append(os.Environ(), helperVar+"="+l.path)
			var out bytes.Buffer
			cmd.Stderr = &out
			if err := cmd.Run(); err != nil {
				t.Errorf("a process failed: %v: %s", err, &out)
			}
			var a, r int
			if _, err := fmt.Sscanf(out.String(), "%d %d", &a, &r); err != nil {
				t.Errorf("a process printed %q: %v", &out, err)
			}
			mu.Lock()
			defer mu.Unlock()
			accepted, refused = accepted+a, refused+r
		})
	}
	wg.Wait()
	check(t, l, accepted, refused)
}

// Who holds the log keeps appends waiting, and one that has waited is judged by
// what was written meanwhile.
func TestHoldKeepsAppendsWaiting(t *testing.T) {
	l := newLog(t)
	mustAppend(t, l, "a", 1)
	release, err := l.Hold()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- l.Append(noon, "b", 2) }()
	if got := workers(t, l); got != "a" { // reading waits for nobody
		t.Errorf("while the log was held it became %s", got)
	}
	select {
	case err := <-done:
		t.Fatalf("an append ended while the log was held: %v", err)
	default:
	}
	release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := workers(t, l); got != "a b" {
		t.Errorf("the log is %s, want a b", got)
	}
}
