package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// breach is one line for the violations of one moment, or of moments that cannot be
// told apart.
type breach struct {
	x       float64
	numbers []int // of the violations, from 1
}

// numberedAbove is a number, or a few, above the lines of breaches.
type numberedAbove struct {
	x0, x1  float64 // of the lines
	numbers []int
}

// breaches draws violations below everything else, with their numbers on top. Every
// number is there: those that would lie on each other become one label.
func (l *layout) breaches(c *canvas, axis, bottom float64) {
	var labels []numberedAbove
	for _, b := range l.breachLines() {
		var hint []string
		for _, n := range b.numbers {
			v := l.Violations[n-1]
			hint = append(hint, l.when(v.At)+"\nviolation: "+foreign(v.Text))
		}
		if n := len(hint) - maxListedViolations; n > 0 {
			hint = append(hint[:maxListedViolations], fmt.Sprintf("and %d more", n))
		}
		c.hint(strings.Join(hint, "\n"), "path", "class", "breach", "d", "M"+pixels(b.x)+" "+pixels(axis+26)+"V"+pixels(bottom))
		labels = append(labels, numberedAbove{b.x, b.x, b.numbers})
		for n := len(labels); n > 1; n = len(labels) {
			_, end := labels[n-2].extent(l.w)
			if begin, _ := labels[n-1].extent(l.w); begin >= end+4 {
				break
			}
			labels[n-2].x1 = labels[n-1].x1
			labels[n-2].numbers = append(slices.Clone(labels[n-2].numbers), labels[n-1].numbers...)
			labels = labels[:n-1]
		}
	}
	for _, n := range labels {
		begin, end := n.extent(l.w)
		c.text("alarm middle", n.String(), (begin+end)/2, axis+21)
	}
}

// breachLines are the violations in the picture, from left to right.
func (l *layout) breachLines() (lines []breach) {
	for i, v := range l.Violations {
		if l.holds(v.At) {
			lines = append(lines, breach{l.x(v.At), []int{i + 1}})
		}
	}
	slices.SortStableFunc(lines, func(a, b breach) int { return cmp.Compare(a.x, b.x) })
	apart := lines[:0]
	for _, b := range lines {
		if n := len(apart); n > 0 && b.x < apart[n-1].x+1 {
			apart[n-1].numbers = append(apart[n-1].numbers, b.numbers...)
			continue
		}
		apart = append(apart, b)
	}
	return apart
}

// extent is what the label covers: around the middle of its lines, in the picture.
func (n numberedAbove) extent(width float64) (begin, end float64) {
	w := measure(n.String(), textSize)
	begin = max(min((n.x0+n.x1-w)/2, width-2-w), 2)
	return begin, begin + w
}

// String is "! 1, 2"; of many in a row "! 3 to 9".
func (n numberedAbove) String() string {
	all := slices.Sorted(slices.Values(n.numbers))
	low, high := all[0], all[len(all)-1]
	switch {
	case len(all) > 3 && high-low == len(all)-1:
		return fmt.Sprintf("! %d to %d", low, high)
	case len(all) > 5:
		return fmt.Sprintf("! %d, %d, %d and %d more", all[0], all[1], all[2], len(all)-3)
	}
	text := "! " + strconv.Itoa(low)
	for _, n := range all[1:] {
		text += ", " + strconv.Itoa(n)
	}
	return text
}

// maxListedViolations is how many are told in words, in one place.
const maxListedViolations = 8

// violations lists them, and returns how far down that goes.
func (l *layout) violations(c *canvas, y float64) float64 {
	for i, v := range l.Violations {
		y += lineHeight
		if i == maxListedViolations {
			c.text("alarm", fmt.Sprintf("and %d more", len(l.Violations)-maxListedViolations), margin, y)
			return y
		}
		when := fmt.Sprintf("! %d  %s: ", i+1, l.when(v.At))
		c.text("alarm", when+isolated(shorten(clean(v.Text), textSize, l.w-2*margin-measure(when, textSize))), margin, y)
	}
	return y
}
