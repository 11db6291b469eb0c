package runcmd

import (
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
)

func at(d time.Duration) guard.Reading { return guard.Reading{Mono: d, Wall: time.Hour + d} }

// A renewal that was confirmed after the guard had begun to kill does not hide the
// freeze that was the reason.
func TestFreezeIsToldThoughARenewalCameAfterIt(t *testing.T) {
	r := &reign{session: &session{options: options{term: 8 * time.Second}}, lastSent: at(8 * time.Second)}
	r.freezes.note(7*time.Second, at(8*time.Second-1))
	if got := r.frozenLong(outcome{why: guard.ReasonLate, sent: at(time.Second)}); got != 7*time.Second {
		t.Errorf("frozen for %v, want 7s", got)
	}
	if got := r.frozenLong(outcome{}); got != 0 {
		t.Errorf("a freeze that a renewal came after is told as %v", got)
	}
}

func TestFreezesAreBounded(t *testing.T) {
	var f freezes
	for i := range 100 {
		f.note(time.Second, at(time.Duration(i)*time.Second))
	}
	if len(f) != keptFreezes {
		t.Errorf("%d are kept, want %d", len(f), keptFreezes)
	}
	if got := f.since(at(97 * time.Second)); got != 2*time.Second {
		t.Errorf("after 97 s: %v, want 2s", got)
	}
}
