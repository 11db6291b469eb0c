package timeline

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

const (
	defaultWidth = 900
	minWidth     = 480
	maxWidth     = 10_000
)

// ErrInvalidChart is what every error about a Chart's content is.
var ErrInvalidChart = errors.New("timeline: invalid chart")

// Validate reports what cannot be drawn: the first fault of each row and those of
// the chart, joined. All of them are ErrInvalidChart.
func (c *Chart) Validate() error {
	if c == nil {
		return fmt.Errorf("%w: there is none, the Chart is nil", ErrInvalidChart)
	}
	var faults []error
	wrong := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrInvalidChart}, args...)...))
	}
	if c.Width != 0 && (c.Width < minWidth || c.Width > maxWidth) {
		wrong("Width is %d: give 0, or %d to %d pixels", c.Width, minWidth, maxWidth)
	}
	if (c.From != 0 || c.Until != 0) && c.Until <= c.From {
		wrong("it is to be drawn from %v until %v: Until must come later", c.From, c.Until)
	}
	for i := range c.Rows {
		if err := c.Rows[i].validate(); err != nil {
			wrong("row %d (%.40q): %w", i, c.Rows[i].Name, err)
		}
	}
	return errors.Join(faults...)
}

func (r *Row) validate() error {
	for i, s := range r.Lives {
		if err := s.validate(); err != nil {
			return fmt.Errorf("life %d %w", i, err)
		}
	}
	for i, g := range r.Reigns {
		if err := g.validate(); err != nil {
			return fmt.Errorf("reign %d (token %d) %w", i, g.Token, err)
		}
		if g.Proof < core.ProofNone || g.Proof > core.ProofClock {
			return fmt.Errorf("reign %d (token %d) was won by %v, which is no proof", i, g.Token, g.Proof)
		}
		if g.Rest < 0 {
			return fmt.Errorf("reign %d (token %d) has the Rest %v: 0 is the least", i, g.Token, g.Rest)
		}
		if g.End < EndNone || g.End > EndLost {
			return fmt.Errorf("reign %d (token %d) has the End %d, which there is not", i, g.Token, g.End)
		}
	}
	for i, f := range r.Faults {
		if err := f.validate(); err != nil {
			return fmt.Errorf("fault %d (%.40q) %w", i, f.What, err)
		}
	}
	for i, m := range r.Marks {
		if m.Kind < 0 || int(m.Kind) >= len(markNames) {
			return fmt.Errorf("mark %d has the Kind %d, which there is not", i, m.Kind)
		}
	}
	return nil
}

func (s Span) validate() error {
	if !s.Open && s.To < s.From {
		return fmt.Errorf("ends at %v, before it begins at %v", s.To, s.From)
	}
	return nil
}

// extent is the part that is drawn. All of it is, from 0 or from what came
// before that, unless From and Until say otherwise.
func (c *Chart) extent() (from, until time.Duration) {
	if c.From != 0 || c.Until != 0 {
		return c.From, c.Until
	}
	for s := range c.everything() {
		from, until = min(from, s.From), max(until, s.From)
		if !s.Open {
			until = max(until, s.To)
		}
	}
	if until == from { // both 0; a scale needs a length
		until = time.Second
	}
	return from, until
}

// empty tells whether there is nothing to see in the part that is drawn.
func (c *Chart) empty() bool {
	from, until := c.extent()
	for s := range c.everything() {
		if s.From <= until && (s.Open || s.To >= from) {
			return false
		}
	}
	return true
}

// everything is when each thing in the chart was.
func (c *Chart) everything() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for _, r := range c.Rows {
			for s := range r.everything() {
				if !yield(s) {
					return
				}
			}
		}
		for _, v := range c.Violations {
			if !yield(Span{From: v.At, To: v.At}) {
				return
			}
		}
	}
}

func (r *Row) everything() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for _, s := range r.Lives {
			if !yield(s) {
				return
			}
		}
		for _, g := range r.Reigns {
			if !yield(Span{From: g.From, To: g.termEnd(), Open: g.Open}) {
				return
			}
		}
		for _, f := range r.Faults {
			if !yield(f.Span) {
				return
			}
		}
		for _, m := range r.Marks {
			if !yield(Span{From: m.At, To: m.At}) {
				return
			}
		}
	}
}
