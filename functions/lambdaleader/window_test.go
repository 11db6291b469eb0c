package lambdaleader

import (
	"testing"
	"time"
)

func TestRenewalIsDue(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name         string
		why          string
		left         time.Duration
		keep         bool
		held, term   time.Duration
		wait, within time.Duration
		ok           bool
	}{
		{"lasts", "the term ends after the handler", 10 * s, false, 10 * s, 12 * s, 0, 0, false},
		{"a third", "far from the deadline", 60 * s, false, 15 * s, 15 * s, 5 * s, 41 * s, true},
		{"a third is gone", "far from the deadline", 60 * s, false, 9 * s, 15 * s, 0, 46 * s, true},
		{"the last one", "as soon as it suffices", 19500 * time.Millisecond, false, 15 * s, 15 * s, 4 * s, 1500 * time.Millisecond, true},
		{"the last one, now", "it suffices already", 15 * s, false, 8 * s, 15 * s, 0, s, true},
		{"too late", "it would outlive the deadline by more than the margin", 13 * s, false, 8 * s, 15 * s, 0, 0, false},
		{"kept", "the deadline is no bound", 13 * s, true, 11 * s, 15 * s, s, forever - s, true},
		{"kept, lasts", "no renewal before the next invocation", 8 * s, true, 11 * s, 15 * s, 0, 0, false},
		{"no deadline", "a third", forever, false, 14 * s, 15 * s, 4 * s, forever + s - 15*s - 4*s, true},
	}
	for _, tt := range tests {
		w := window{left: tt.left, margin: s, keep: tt.keep}
		wait, within, ok := w.renewal(tt.held, tt.term, tt.term/3)
		if wait != tt.wait || within != tt.within || ok != tt.ok {
			t.Errorf("%s: renewal = %v, %v, %v; want %v, %v, %v: %s", tt.name, wait, within, ok, tt.wait, tt.within, tt.ok, tt.why)
		}
	}
}

// Whatever is left, a term that is won at the latest moment ends in time, and an
// attempt that is given up at the latest moment does.
func TestTermFits(t *testing.T) {
	for _, margin := range []time.Duration{time.Millisecond, 500 * time.Millisecond, 3 * time.Second} {
		for left := 2 * margin; left < 20*time.Minute; left += left/7 + 1 {
			for _, wait := range []time.Duration{0, (left - margin) / 2} {
				w := window{left: left, margin: margin}
				term := w.term(15*time.Second, wait)
				if end := wait + term/4 + term; end > left+margin {
					t.Fatalf("left %v, margin %v, wait %v: a term of %v may end %v late", left, margin, wait, term, end-left)
				}
				for _, keep := range []bool{false, true} {
					w.keep = keep
					term := w.term(15*time.Second, wait)
					if term <= 0 || w.attempt(term) <= 0 || w.attempt(term)+min(term/4, 4*time.Second) > w.room() {
						t.Fatalf("left %v, margin %v, wait %v, keep %v: a term of %v, an attempt of %v", left, margin, wait, keep, term, w.attempt(term))
					}
				}
			}
		}
	}
}
