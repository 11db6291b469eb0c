package faultdecider

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is what goes wrong.
type Kind string

// The kinds of faults. Unknown means an error that is neither lost nor broken.
const (
	Fail       Kind = "fail"        // not sent; unknown
	Lose       Kind = "lose"        // applied, the answer is lost; unknown
	Broken     Kind = "broken"      // not sent; the error Is core.ErrBroken
	Delay      Kind = "delay"       // sent after the fault's For; a context that ends first keeps it from being sent
	DelayAfter Kind = "delay-after" // applied at once, answered after For; a context that ends first loses the answer
	Hang       Kind = "hang"        // not sent; unknown when the context ends
	HangAfter  Kind = "hang-after"  // applied; unknown when the context ends
	Stuck      Kind = "stuck"       // not sent; ignores the context until Heal or Close, then unknown
	Late       Kind = "late"        // unknown at once; a write is applied after For all the same, a read never
	Duplicate  Kind = "duplicate"   // applied twice; the second answer counts
)

// Op selects requests.
type Op string

// The requests that a fault can be for.
const (
	Any   Op = "any"
	Read  Op = "read"
	Write Op = "write"
)

// Fault is one thing that goes wrong, and when.
type Fault struct {
	Op   Op // "" is Any
	Kind Kind
	// After is how many requests of this Op pass before the fault is on.
	After int
	// Times is how often it happens at most; 0: no limit.
	Times int
	// Probability is that of every request, once the fault is on; 0: certain.
	Probability float64
	// For is the time that Delay, DelayAfter and Late take.
	For time.Duration
}

// Plan is a schedule of faults. Its String can be pasted into Parse: a failing
// run is repeated by what it printed.
type Plan struct {
	Seed   uint64
	Faults []Fault
}

// String prints the fault the way Parse reads it.
func (f Fault) String() string {
	op := f.Op
	if op == "" {
		op = Any
	}
	s := string(op) + " " + string(f.Kind)
	if f.After != 0 {
		s += fmt.Sprintf(" after=%d", f.After)
	}
	if f.Times != 0 {
		s += fmt.Sprintf(" times=%d", f.Times)
	}
	if f.Probability != 0 {
		s += " p=" + strconv.FormatFloat(f.Probability, 'g', -1, 64)
	}
	if f.For != 0 {
		s += " for=" + f.For.String()
	}
	return s
}

// String prints the plan in one line: "seed=7; write lose after=1 times=2; any delay p=0.1 for=2s".
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed=%d", p.Seed)
	for _, f := range p.Faults {
		b.WriteString("; " + f.String())
	}
	return b.String()
}

// Parse reads what Plan.String prints. The seed may be left out.
func Parse(text string) (Plan, error) {
	var p Plan
	for i, part := range strings.Split(text, ";") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if seed, ok := strings.CutPrefix(part, "seed="); ok && i == 0 {
			n, err := strconv.ParseUint(seed, 10, 64)
			if err != nil {
				return Plan{}, fmt.Errorf("faultdecider: seed %q is not a number from 0 to 2^64-1", seed)
			}
			p.Seed = n
			continue
		}
		f, err := parseFault(part)
		if err != nil {
			return Plan{}, err
		}
		p.Faults = append(p.Faults, f)
	}
	return p, p.Validate()
}

func parseFault(text string) (Fault, error) {
	words := strings.Fields(text)
	if len(words) < 2 {
		return Fault{}, fmt.Errorf("faultdecider: %q is no fault: want an operation and a kind, as in \"write lose\"", text)
	}
	f := Fault{Op: Op(words[0]), Kind: Kind(words[1])}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "after":
			f.After, err = strconv.Atoi(value)
		case "times":
			f.Times, err = strconv.Atoi(value)
		case "p":
			f.Probability, err = strconv.ParseFloat(value, 64)
		case "for":
			f.For, err = time.ParseDuration(value)
		default:
			return Fault{}, fmt.Errorf("faultdecider: %q in %q is unknown: want after=, times=, p= or for=", word, text)
		}
		if err != nil {
			return Fault{}, fmt.Errorf("faultdecider: %q in %q cannot be read: %w", word, text, err)
		}
	}
	return f, nil
}

// Validate tells what is wrong with a plan, for the first fault that is.
func (p Plan) Validate() error {
	for _, f := range p.Faults {
		if err := f.validate(); err != nil {
			return fmt.Errorf("faultdecider: %q: %w", f, err)
		}
	}
	return nil
}

func (f Fault) validate() error {
	switch f.Op {
	case "", Any, Read, Write:
	default:
		return fmt.Errorf("the operation %q is none of any, read, write", f.Op)
	}
	switch f.Kind {
	case Delay, DelayAfter, Late:
		if f.For <= 0 {
			return fmt.Errorf("%s needs a time that is positive (for=2s)", f.Kind)
		}
	case Fail, Lose, Broken, Hang, HangAfter, Stuck, Duplicate:
		if f.For != 0 {
			return fmt.Errorf("%s takes no time", f.Kind)
		}
	default:
		return fmt.Errorf("the kind %q is unknown", f.Kind)
	}
	if f.After < 0 || f.Times < 0 {
		return fmt.Errorf("after and times must not be negative")
	}
	if !(f.Probability >= 0 && f.Probability <= 1) { // NaN is neither
		return fmt.Errorf("the probability must be from 0 to 1")
	}
	return nil
}
