package chaos

import (
	"testing"
	"time"
)

func TestVaultIsFenced(t *testing.T) {
	v := newVault(newBook(NewUmpire(1, 1, 2*time.Second)), 1)
	old, young := &life{token: 1}, &life{token: 2}
	v.begin(0, old)
	v.freeze(0, old, true)
	if !v.append(0, old, 1) {
		t.Error("the only leader was refused")
	}
	v.shelves[0].lives = map[int64]*life{} // so that begin does not ask the kernel about it
	v.begin(0, young)
	if !v.append(0, young, 1) || v.append(0, old, 2) || !v.append(0, young, 2) {
		t.Error("accepted or refused the wrong ones")
	}
	if err := audit(v.shelves[0].log); err != nil {
		t.Error(err)
	}
	if len(v.umpire.Violations()) != 0 {
		t.Error(v.umpire.Violations())
	}
}

func TestAudit(t *testing.T) {
	at := func(token int64, seq int, accepted bool) record {
		return record{token: token, seq: seq, accepted: accepted}
	}
	for _, c := range []struct {
		name string
		log  []record
		ok   bool
	}{
		{"in order", []record{at(1, 1, true), at(1, 2, true), at(2, 1, true), at(1, 3, false), at(2, 2, true)}, true},
		{"stale", []record{at(1, 1, true), at(2, 1, true), at(1, 2, true)}, false},
		{"twice", []record{at(1, 1, true), at(1, 1, true)}, false},
		{"one is missing", []record{at(1, 1, true), at(1, 3, true)}, false},
		{"out of time", []record{{at: 2, token: 1, seq: 1}, {at: 1, token: 1, seq: 2}}, false},
	} {
		if err := audit(c.log); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
