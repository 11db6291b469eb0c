package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/faultdecider"
)

// An attempt to win may be under way for a quarter of the term. Two faults of the
// clocks that are an eighth apart then meet no beat, for nobody leads yet; but
// the reign counts from the sending of that attempt.
func TestFaultsDuringAnAttempt(t *testing.T) {
	term := 10 * time.Second
	for n := range 30 { // the observer's jitter depends on its name
		start := time.Second + time.Duration(n)*10*time.Millisecond
		stops := start + 15*time.Millisecond
		life := func(from time.Duration) []Life {
			return []Life{{From: from, To: 62 * time.Second, Style: styleCampaign, Stubborn: true, Seed: 7}}
		}
		leader := Host{Name: "a", Rate: 1, Slow: 1, Term: term, NoClockProof: true, Lives: life(start),
			Cuts: []span{{start + 2500*time.Millisecond, 62 * time.Second}},
			Net: faultdecider.Plan{Faults: []faultdecider.Fault{
				{Op: faultdecider.Write, Kind: faultdecider.DelayAfter, For: 2450 * time.Millisecond, Times: 1}}},
			Faults: []ClockFault{
				{At: stops, For: 990 * time.Millisecond, Kind: faultMono},
				{At: stops + 990*time.Millisecond + term/8 + term/64, Kind: faultStep, By: -time.Hour}}}
		observer := Host{Name: fmt.Sprint("b", n), Rate: 1, Slow: 1, Term: term, Poll: term / 25, NoClockProof: true,
			Lives: life(start + 20*time.Millisecond)}
		p := Plan{Healed: 60 * time.Second, End: 62 * time.Second, Longest: term, Hosts: []Host{leader, observer},
			Profile: Profile{Name: "directed", Outside: true}} // outside: nobody has to lead in the end
		if r := play(t, p); len(r.Violations) > 0 {
			t.Fatal("\n" + r.Draw(p))
		}
	}
}
