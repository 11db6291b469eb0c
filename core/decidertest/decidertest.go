// Package decidertest is the conformance suite for deciders: what an election
// relies on, as named cases that run unchanged against memory, against every
// decider of this project, against live services and against yours.
//
// A decider's own tests give it a Harness:
//
//	func TestConformance(t *testing.T) {
//		decidertest.Run(t, decidertest.Harness{New: func(t decidertest.TB) decidertest.Record {
//			key := freshKey()
//			return decidertest.Record{
//				Open: func() core.RaceDecider { return mydecider.NewDecider(client, key) },
//			}
//		}})
//	}
//
// The hooks of Record make the store do what stores do: lose an answer, hold
// rubbish, refuse. A case whose hook is missing is skipped, and Run fails
// unless AllowSkips says that this is meant.
package decidertest

import (
	"context"
	"testing"

	"github.com/cloudelect/cloudelect/core"
)

// TB is the part of *testing.T that cases and harnesses use. It is small so
// that a test of the suite itself can watch a case fail.
type TB interface {
	Helper()
	Name() string
	Context() context.Context
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Cleanup(f func())
}

// Harness is one kind of store, for Run.
type Harness struct {
	// New returns a record that holds nothing and that nobody else uses. Each
	// case asks for its own, some for two.
	New func(t TB) Record
	// NoStoreDate says that this store tells no time; else every token must
	// carry its Date.
	NoStoreDate bool
	// AllowSkips makes skipped cases no failure.
	AllowSkips bool
}

// Record is one election's entry in the store. Open is needed; a hook that is
// nil skips the cases that need it.
type Record struct {
	// Open returns a new handle on the record, as another process would hold
	// it: sharing nothing with the others that a decider could cache.
	Open func() core.RaceDecider
	// LoseNext makes the next write through d be applied and its answer lost.
	// d is the only handle that writes until then.
	LoseNext func(d core.RaceDecider)
	// Plant puts content into the store in place of the entry, whatever is
	// there. A store that keeps no bytes keeps what comes closest: something
	// that somebody else wrote under the election's name.
	Plant func(content []byte) error
	// PlantNewer puts an entry of a newer format version into the store. Nil:
	// Plant is given one in JSON.
	PlantNewer func() error
	// Delete removes the record, as nothing of this project does.
	Delete func() error
	// Deny returns a handle that may neither read nor write.
	Deny func() core.RaceDecider
}

// Case tells what one case of the suite is about, for documentation.
type Case struct{ Name, Why string }

// Cases lists the suite in the order in which Run runs it.
func Cases() []Case {
	all := cases()
	list := make([]Case, len(all))
	for i, c := range all {
		list[i] = Case{c.name, c.why}
	}
	return list
}

// Run runs every case as a subtest of t. Call it from a test that is named
// TestConformance, so that a case has the same path everywhere.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.New == nil {
		t.Fatal("decidertest: Harness.New is needed")
	}
	var skipped []string
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if t.Skipped() {
					skipped = append(skipped, c.name)
				}
				if t.Failed() {
					t.Logf("why this matters: %s", c.why)
				}
			}()
			c.run(&suite{TB: t, h: h})
		})
	}
	for _, name := range skipped {
		t.Logf("decidertest: SKIPPED %s", name)
	}
	if len(skipped) > 0 && !h.AllowSkips {
		t.Errorf("decidertest: %d cases were skipped: give Record the hooks they need, or set Harness.AllowSkips", len(skipped))
	}
}

// suite is what a case works with.
type suite struct {
	TB
	h Harness
}

type testCase struct {
	name string
	why  string
	run  func(s *suite)
}

func cases() []testCase {
	var all []testCase
	for _, part := range [][]testCase{readingCases(), racingCases(), contentCases(), answerCases(), foreignCases()} {
		all = append(all, part...)
	}
	return all
}
