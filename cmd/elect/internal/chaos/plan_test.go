package chaos

import (
	"strings"
	"testing"
	"time"
)

func TestPlanRepeats(t *testing.T) {
	text := func(seed uint64) string {
		var b strings.Builder
		if err := (Plan{seed, 3, 2 * time.Second}).Print(&b, 50); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if first, again := text(7), text(7); first != again {
		t.Error("the same seed makes another plan")
	}
	if text(7) == text(8) {
		t.Error("another seed makes the same plan")
	}
	p := Plan{7, 3, 2 * time.Second}
	if first, again := p.Hire(1, 2, 3), p.Hire(1, 2, 3); first != again {
		t.Error("the same seed hires others")
	}
}

// Whatever the seed and the number of elections: after as many steps as the deck has
// cards everything was dealt as often as it is in there.
func TestPlanDealsWholeDecks(t *testing.T) {
	for seed := range uint64(20) {
		for _, elections := range []int{1, 3, 7, 11} {
			p := Plan{seed, elections, 2 * time.Second}
			dealt := make(map[Act]int)
			for turn := range len(deck()) {
				s := p.Step(turn%elections, turn/elections)
				dealt[s.Act]++
				if s.Lead <= 0 || s.Last <= 0 || s.Jump < 2*time.Second {
					t.Fatalf("seed %d: %v", seed, s)
				}
				if s.Ending == Outage && s.Last <= p.Term {
					t.Fatalf("seed %d: an outage that a leader survives: %v", seed, s)
				}
			}
			for _, c := range cards() {
				if dealt[c.act] != c.copies {
					t.Errorf("seed %d, %d elections: %s was dealt %d times, want %d", seed, elections, c.act, dealt[c.act], c.copies)
				}
			}
		}
	}
}

func TestClocksAreHoursOff(t *testing.T) {
	p := Plan{1, 1, 2 * time.Second}
	var most, least time.Duration
	right := 0
	for n := range 200 {
		h := p.Hire(0, 0, n)
		most, least = max(most, h.Offset), min(least, h.Offset)
		if h.Offset == 0 {
			right++
		}
	}
	if most < 3*time.Hour || least > -3*time.Hour || right == 0 {
		t.Errorf("from %v to %v, %d are right", least, most, right)
	}
}
