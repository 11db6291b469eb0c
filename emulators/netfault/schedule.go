package netfault

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// Chance is a fault and how likely it is.
type Chance struct {
	P     float64 // from 0 to 1, for each request that the fault's conditions match
	Fault Fault
}

// Schedule is a random mixture of faults that can be repeated: what the n-th
// request meets depends on nothing but the seed, n and the request. Concurrent
// clients that arrive in another order meet other faults.
//
// Each chance is drawn by itself, so delays come together with other faults; of
// the faults that end a request the first drawn counts.
type Schedule struct {
	Seed    uint64
	Chances []Chance
}

// Validate tells what is wrong with a schedule. Its faults must be printable, so
// they have no Match, Header or Body, and no Count.
func (s *Schedule) Validate() error {
	for k, c := range s.Chances {
		if !(c.P >= 0 && c.P <= 1) { // NaN too
			return fmt.Errorf("netfault: schedule: chance %d (%s) has probability %v: give one from 0 to 1", k+1, c.Fault.effect(), c.P)
		}
		if c.Fault.Match != nil || c.Fault.Header != nil || c.Fault.Body != nil || c.Fault.Count != 0 {
			return fmt.Errorf("netfault: schedule: chance %d (%s) has a Match, Header, Body or Count, which one line cannot print: use Inject for it", k+1, c.Fault.effect())
		}
		if err := c.Fault.validate(); err != nil {
			return fmt.Errorf("netfault: schedule: chance %d: %w", k+1, err)
		}
	}
	return nil
}

// draw is what the request with that turn meets. Every chance takes one number,
// whether it matches or not, so that the numbers of the others stay theirs.
func (s *Schedule) draw(turn uint64, r *http.Request) []Fault {
	random := rand.New(rand.NewPCG(s.Seed, turn))
	var met []Fault
	for _, c := range s.Chances {
		if random.Float64() < c.P && c.Fault.matches(r) {
			met = append(met, c.Fault)
		}
	}
	return met
}

// String is the schedule in one line, which [Parse] reads back:
//
//	seed=7; 0.1 delay 250ms; 0.05 status 503 writes; 0.02 lose-answer method="POST" path="/o/"
func (s *Schedule) String() string {
	var line strings.Builder
	fmt.Fprintf(&line, "seed=%d", s.Seed)
	for _, c := range s.Chances {
		line.WriteString("; " + strconv.FormatFloat(c.P, 'g', -1, 64) + " " + c.Fault.String())
	}
	return line.String()
}

// String is the fault as a schedule prints it. Header and Body are left out; a
// Match is only mentioned.
func (f Fault) String() string {
	text := f.effect()
	if f.Method != "" {
		text += " method=" + strconv.Quote(f.Method)
	}
	if f.PathContains != "" {
		text += " path=" + strconv.Quote(f.PathContains)
	}
	if f.WritesOnly {
		text += " writes"
	}
	if f.Match != nil {
		text += " match=func"
	}
	if f.Count > 0 {
		text += " times=" + strconv.Itoa(f.Count)
	}
	return text
}

// effect is the fault without its conditions.
func (f Fault) effect() string {
	switch {
	case f.Kind.takesDuration():
		return f.Kind.String() + " " + f.For.String()
	case f.Kind.takesStatus():
		return f.Kind.String() + " " + strconv.Itoa(f.Status)
	}
	return f.Kind.String()
}
