package chaos

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// Plan says what happens to each election. It is a value: the same seed, number of
// elections and term make the same plan.
type Plan struct {
	Seed      uint64
	Elections int
	Term      time.Duration
}

// Step is one thing that happens to an election.
type Step struct {
	Act    Act
	Ending Ending
	Lead   time.Duration // how long somebody leads undisturbed before it
	Last   time.Duration // how long the fault lasts; of a freeze: after somebody else leads
	Jump   time.Duration // how far the store's clock jumps, if it does
	Pick   int           // which of several candidates, or ways
	Seed   uint64        // of the network's schedule
}

// Step returns what happens to an election at last, after n other things. The elections
// are dealt one shuffled deck after another, in turns.
func (p Plan) Step(election, n int) Step {
	cards := deck()
	turn := n*p.Elections + election
	shuffle := p.random(1, turn/len(cards), 0)
	shuffle.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	c := cards[turn%len(cards)]

	r := p.random(2, election, n)
	s := Step{Act: c.act, Ending: c.ending, Pick: r.IntN(1 << 16), Seed: r.Uint64()}
	s.Lead = p.part(r, 0.1, 0.5)
	switch {
	case c.ending == Outage:
		s.Last = p.part(r, 1.15, 1.7)
	case c.act == Blink:
		s.Last = p.part(r, 0.05, 0.2)
	case c.ending == Weather:
		s.Last = p.part(r, 0.5, 1.5)
	default:
		s.Last = p.part(r, 0.01, 0.3)
	}
	s.Jump = time.Duration(2+r.IntN(2*3600)) * time.Second
	return s
}

// Hire is how a candidate is started.
type Hire struct {
	Pause    time.Duration // after its predecessor has ended
	Offset   time.Duration // of its host's clock
	Stubborn bool          // its COMMAND ignores SIGTERM
}

// Hire returns how the nth process in a candidate's place is started.
func (p Plan) Hire(election, place, n int) Hire {
	r := p.random(4, election<<8+place, n)
	h := Hire{Stubborn: r.IntN(2) == 0}
	if n > 0 { // all of them at once in the beginning
		h.Pause = p.part(r, 0.02, 0.2)
	}
	if r.IntN(4) > 0 { // the others have the right time
		h.Offset = time.Duration(r.IntN(12*3600)-6*3600) * time.Second
	}
	return h
}

// part is a random part of a term, in whole milliseconds.
func (p Plan) part(r *rand.Rand, from, to float64) time.Duration {
	d := time.Duration((from + r.Float64()*(to-from)) * float64(p.Term))
	return d.Round(time.Millisecond)
}

func (p Plan) random(what, a, b int) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, uint64(what)<<48^uint64(a)<<24^uint64(b)))
}

// Print writes down the first steps of every election.
func (p Plan) Print(w io.Writer, steps int) error {
	for e := range p.Elections {
		for n := range steps {
			if _, err := fmt.Fprintf(w, "election %d step %d: %s\n", e, n, p.Step(e, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// String is the step on one line.
func (s Step) String() string {
	text := fmt.Sprintf("after %v %s (%s) for %v", s.Lead, s.Act, s.Ending, s.Last)
	switch s.Act {
	case ClockBack, ClockAhead, OutClockAhead:
		text += fmt.Sprintf(", the store's clock jumps by %v", s.Jump)
	}
	return text
}
