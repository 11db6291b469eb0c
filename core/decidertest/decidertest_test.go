package decidertest

import (
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// A store with nothing but Open is welcome, if it says so.
func TestAllowSkips(t *testing.T) {
	Run(t, Harness{AllowSkips: true, NoStoreDate: true, New: func(TB) Record {
		store := memory.NewDecider()
		return Record{Open: func() core.RaceDecider { return store.Handle() }}
	}})
}

// Cases that need a hook say which, and none of them passes without it.
func TestCasesWithoutTheirHooksAreSkipped(t *testing.T) {
	bare := Harness{New: func(TB) Record {
		full := harness(nil, false).New(nil)
		return Record{Open: full.Open}
	}}
	want := map[string]string{
		"lost-answer-is-unknown-then-found-by-nonce":        "LoseNext",
		"denied-is-broken":                                  "Deny",
		"corrupt-record-is-ErrBadEntry-with-a-usable-token": "Plant",
		"newer-version-is-ErrBadEntry":                      "Plant or PlantNewer",
		"deleted-record-is-a-lost-race":                     "Delete",
	}
	for _, c := range cases() {
		got := watch(t, c, bare) // a skip is a complaint here
		hook, skips := want[c.name]
		switch {
		case skips && (len(got) != 1 || got[0] != "decidertest: SKIPPED: the harness has no "+hook):
			t.Errorf("%s without %s: %q", c.name, hook, got)
		case !skips && len(got) > 0:
			t.Errorf("%s without hooks: %q", c.name, got)
		}
	}
}

func TestCasesAreDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if c.Name == "" || c.Why == "" || seen[c.Name] {
			t.Errorf("case %+v: want a name of its own and a reason", c)
		}
		seen[c.Name] = true
	}
}
