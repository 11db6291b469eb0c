package guard

import (
	"testing"
	"time"
)

const s = time.Second

func at(mono, wall time.Duration) Reading { return Reading{Mono: mono, Wall: 1000*s + wall} }

func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		name, why  string
		renewed    Reading   // when a term of 10 s was sent
		heard      Reading   // when the guard heard of it
		looks      []Reading // when it looked since
		left       time.Duration
		stop, kill bool
	}{
		{"fresh", "nothing has passed", at(0, 0), at(0, 0), nil, 10 * s, false, false},
		{"counts-from-sending", "the order may have been under way for long", at(0, 0), at(4*s, 4*s), nil, 6 * s, false, false},
		{"heard-too-late", "elect was frozen between the write and the order", at(0, 0), at(11*s, 11*s), nil, 0, true, true},
		{"time-to-stop", "a fifth is left", at(0, 0), at(0, 0), []Reading{at(8*s, 8*s)}, 2 * s, true, false},
		{"time-to-kill", "a tenth is left", at(0, 0), at(0, 0), []Reading{at(9*s, 9*s)}, s, true, true},
		{"monotonic-frozen", "the wall clock alone has moved", at(0, 0), at(0, 0), []Reading{at(0, 9*s)}, s, true, true},
		{"wall-frozen", "the monotonic clock alone has moved", at(0, 0), at(0, 0), []Reading{at(9*s, 0)}, s, true, true},
		{"one-then-the-other", "each clock moved half, not at the same time", at(0, 0), at(0, 0), []Reading{at(5*s, 0), at(5*s, 5*s)}, 0, true, true},
		{"wall-set-back", "a clock that goes back gives no time back", at(0, 0), at(0, 0), []Reading{at(4*s, -100*s)}, 6 * s, false, false},
		{"wall-set-back-in-between", "between sending and hearing, too", at(0, 0), at(4*s, -100*s), nil, 6 * s, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := deadline{last: c.heard}
			d.renew(c.heard, c.renewed, 10*s)
			for _, r := range c.looks {
				d.advance(r)
			}
			if d.left != c.left || d.stopDue() != c.stop || d.killDue() != c.kill {
				t.Errorf("left %v stop %v kill %v, want %v %v %v: %s", d.left, d.stopDue(), d.killDue(), c.left, c.stop, c.kill, c.why)
			}
		})
	}
}

func TestDeadlineRenewals(t *testing.T) {
	d := deadline{last: at(0, 0)}
	d.renew(at(0, 0), at(0, 0), 10*s)
	d.renew(at(5*s, 5*s), at(4*s, 4*s), 10*s)
	if d.left != 9*s {
		t.Errorf("after a renewal %v are left, want 9s", d.left)
	}
	// One that was read back late counts from its own sending and takes nothing away.
	d.renew(at(6*s, 6*s), at(1*s, 1*s), 10*s)
	if d.left != 8*s {
		t.Errorf("after an older renewal %v are left, want 8s", d.left)
	}
	if d.sent != at(4*s, 4*s) {
		t.Errorf("the term counts from a write sent at %v, want 4s", d.sent.Mono)
	}
}

func TestAsked(t *testing.T) {
	if !Asked([]string{marker, "/bin/true", "true"}) || Asked([]string{"run"}) || Asked(nil) {
		t.Error("a guard is started by its marker alone")
	}
}
