package timeline

import (
	"fmt"
	"strings"
	"time"
)

// scale maps time to cells.
type scale struct {
	until time.Duration
	cells int
}

// cell is where a moment is drawn; what is outside the chart stands at its edge.
func (s scale) cell(at time.Duration) int {
	i := int(float64(at) / float64(s.until) * float64(s.cells))
	return min(max(i, 0), s.cells-1)
}

// axis is the scale itself: labels, and a ruler below them.
func (s scale) axis(style Style) (labels string, ruler line) {
	ruler = make(line, s.cells)
	for i := range ruler {
		ruler[i] = cell{kind: cellRuler}
	}
	var b strings.Builder
	step := s.step()
	width := 0
	for at := time.Duration(0); at < s.until; at += step {
		i, text := s.cell(at), seconds(at)
		ruler[i] = cell{kind: cellNotch}
		if i+len(text) > s.cells || at > 0 && i <= width {
			continue // no room for this one
		}
		b.WriteString(strings.Repeat(" ", i-width) + text)
		width = i + len(text)
	}
	return b.String(), ruler
}

// step is the distance of two labels: a round number of seconds, and room for
// the label in between.
func (s scale) step() time.Duration {
	const room = 8
	for unit := time.Second / 10; ; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if float64(n*unit)/float64(s.until)*float64(s.cells) >= room || n*unit > s.until {
				return n * unit
			}
		}
	}
}

func seconds(at time.Duration) string { return fmt.Sprintf("%g s", at.Seconds()) }
