package memory

import (
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// token names one version of one record. Its methods are core.DatedToken's.
type token struct {
	rec     *record
	version uint64
	present bool   // false: "still nothing there"
	times   *times // nil where the store tells no time
}

type times struct{ commit, date time.Time }

var _ core.DatedToken = (*token)(nil)

// token returns the current version's name, dated with the store's clock now.
func (r *record) token() *token {
	t := &token{rec: r, present: r.present}
	if r.present {
		t.version = r.version
	}
	if r.clock != nil {
		// Whole seconds, rounded down, as in HTTP's Date header.
		t.times = &times{date: r.clock.Now().Truncate(time.Second)}
		if r.present {
			t.times.commit = r.commit
		}
	}
	return t
}

// CommitTS is the store's clock when this version was written; zero without SetClock.
func (t *token) CommitTS() time.Time {
	if t.times == nil {
		return time.Time{}
	}
	return t.times.commit
}

// StoreDate is the store's clock on the answer, in whole seconds; zero without SetClock.
func (t *token) StoreDate() time.Time {
	if t.times == nil {
		return time.Time{}
	}
	return t.times.date
}

// String makes a token readable in a test's output.
func (t *token) String() string {
	if !t.present {
		return "absent"
	}
	return fmt.Sprintf("v%d", t.version)
}
