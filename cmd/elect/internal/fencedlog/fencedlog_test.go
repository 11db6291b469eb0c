package fencedlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newLog(t *testing.T) *Log {
	t.Helper()
	return New(filepath.Join(t.TempDir(), "log"))
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 7, time.UTC)

func mustAppend(t *testing.T, l *Log, worker string, token int64) {
	t.Helper()
	if err := l.Append(noon, worker, token); err != nil {
		t.Fatalf("Append(%s, %d) = %v, want nil", worker, token, err)
	}
}

func workers(t *testing.T, l *Log) string {
	t.Helper()
	records, err := l.Records()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range records {
		names = append(names, r.Worker)
	}
	return strings.Join(names, " ")
}

func TestAppendWritesOneLine(t *testing.T) {
	l := newLog(t)
	mustAppend(t, l, "a", 41)
	b, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), "2026-01-02T12:00:00.000000007Z a 41\n"; got != want {
		t.Errorf("the file holds %q, want %q", got, want)
	}
	records, err := l.Records()
	if err != nil || len(records) != 1 || records[0] != (Record{noon, "a", 41}) {
		t.Errorf("Records() = %v, %v", records, err)
	}
}

// Where a refusal cannot be noted, whoever counts them must know.
func TestARefusalThatCannotBeNoted(t *testing.T) {
	l := newLog(t)
	mustAppend(t, l, "a", 6)
	if err := os.Mkdir(l.path+refusedSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(noon, "late", 5); !errors.Is(err, ErrNotNoted) || !errors.Is(err, ErrStale) {
		t.Errorf("%v, want ErrNotNoted and ErrStale", err)
	}
	if got := workers(t, l); got != "a" {
		t.Errorf("the log has lines of %q, want a", got)
	}
}

func TestOlderTokensAreRefusedAndCounted(t *testing.T) {
	l := newLog(t)
	mustAppend(t, l, "a", 5)
	mustAppend(t, l, "a", 5)
	mustAppend(t, l, "b", 6)
	err := l.Append(noon, "late", 5)
	var stale *StaleError
	if !errors.Is(err, ErrStale) || !errors.As(err, &stale) || *stale != (StaleError{Token: 5, Last: 6}) {
		t.Fatalf("an append with an older token = %v, want StaleError{5, 6}", err)
	}
	mustAppend(t, l, "b", 6)
	if got := workers(t, l); got != "a a b b" {
		t.Errorf("accepted: %s, want a a b b", got)
	}
	refused, err := l.Refused()
	if err != nil || len(refused) != 1 || refused[0].Worker != "late" {
		t.Errorf("Refused() = %v, %v, want the one of late", refused, err)
	}
}

func TestNothingThereYet(t *testing.T) {
	l := newLog(t)
	for name, read := range map[string]func() ([]Record, error){"Records": l.Records, "Refused": l.Refused} {
		if r, err := read(); err != nil || len(r) != 0 {
			t.Errorf("%s() of a new log = %v, %v, want nothing", name, r, err)
		}
	}
}

// A process that was killed in the middle of a write must not spoil the log, and
// must not lower its fence.
func TestHalfALineIsCutOff(t *testing.T) {
	l := newLog(t)
	mustAppend(t, l, "a", 10)
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("2026-01-02T12:00:00Z b 1"); err != nil { // of 11
		t.Fatal(err)
	}
	f.Close()
	if got := workers(t, l); got != "a" {
		t.Errorf("read: %s, want a", got)
	}
	if err := l.Append(noon, "late", 9); !errors.Is(err, ErrStale) {
		t.Errorf("an older token after half a line = %v, want ErrStale", err)
	}
	mustAppend(t, l, "c", 11)
	if got := workers(t, l); got != "a c" {
		t.Errorf("read: %s, want a c", got)
	}
}

func TestTheFirstHalfLineIsCutOffToo(t *testing.T) {
	l := newLog(t)
	if err := os.WriteFile(l.path, []byte("2026-01-"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "a", 1)
	if got := workers(t, l); got != "a" {
		t.Errorf("read: %s, want a", got)
	}
}

func TestForeignFilesStayAsTheyAre(t *testing.T) {
	for name, content := range map[string]string{
		"text":       "Dear diary\n",
		"no token":   "2026-01-02T12:00:00Z a x\n",
		"no time":    "noon a 1\n",
		"empty line": "\n",
		"one line":   strings.Repeat("x", 3*maxLine),
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			if err := os.WriteFile(l.path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := l.Append(noon, "a", 1); err == nil || !strings.Contains(err.Error(), "choose another file") {
				t.Errorf("Append = %v, want an error that says what to do", err)
			}
			if b, _ := os.ReadFile(l.path); string(b) != content {
				t.Errorf("the file was changed to %.60q", b)
			}
		})
	}
}

func TestNamesThatWouldBreakALine(t *testing.T) {
	l := newLog(t)
	for _, name := range []string{"", "a b", "a\nb", "\t", strings.Repeat("x", maxName+1)} {
		if err := l.Append(noon, name, 1); err == nil {
			t.Errorf("Append for %.20q succeeded", name)
		}
	}
	if got := workers(t, l); got != "" {
		t.Errorf("written: %s", got)
	}
}

func TestAFolderThatIsNotThere(t *testing.T) {
	l := New(filepath.Join(t.TempDir(), "missing", "log"))
	if err := l.Append(noon, "a", 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Append = %v, want one that names the missing file", err)
	}
}

func TestStaleCountsWhatAFenceWouldRefuse(t *testing.T) {
	for want, tokens := range map[int][]int64{
		0: {1, 1, 2, 9, 9},
		1: {1, 3, 2, 3},
		2: {5, 1, 2, 5}, // both are older than 5, though 2 follows 1
	} {
		var records []Record
		for _, token := range tokens {
			records = append(records, Record{Token: token})
		}
		if got := Stale(records); got != want {
			t.Errorf("Stale(%v) = %d, want %d", tokens, got, want)
		}
	}
}
