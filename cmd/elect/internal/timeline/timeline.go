// Package timeline draws who did what when as rows of text: bars for reigns, thin
// lines for those who wait, marks for what happened to them, one common scale.
//
// It knows nothing of elections, clocks or terminals. A Chart is a value; Render
// makes lines of it that are never wider than asked, in ASCII where a terminal
// cannot show more, without colours where there are none.
package timeline

import (
	"strings"
	"time"
)

// Chart is everything that is drawn. Times count from its left end.
type Chart struct {
	Rows []Row
	// Until is the right end of the scale.
	Until time.Duration
}

// Row is one line of the chart. Spans are drawn in order, then ticks, then marks.
type Row struct {
	Name  string
	Spans []Span
	Ticks []time.Duration // many small events, such as lines of a log
	Marks []Mark
}

// Span is a stretch of time.
type Span struct {
	From, To time.Duration
	Kind     Kind
	Label    string // on the bar of a reign, where it fits
	Color    int    // of a reign: any number, the same for the same thing
}

// Kind says how a span looks.
type Kind int

const (
	Waiting Kind = iota // a thin line
	Frozen              // a dotted line
	Leading             // a bar
)

// Mark is something that happened at one moment.
type Mark struct {
	At   time.Duration
	Sign Sign
}

// Sign says what a mark means.
type Sign int

const (
	Killed Sign = iota
	Stopped
	Continued
	Terminated
	Refused
)

// Style says what the reader's screen can show.
type Style struct {
	Width   int  // in columns; less than MinWidth counts as MinWidth
	Unicode bool // box drawing and geometric shapes, all of them one column wide
	Color   bool // ANSI escape sequences
}

// MinWidth is the least number of columns that a chart needs.
const MinWidth = 40

// Render draws the chart: a scale, then one line for each row. Lines end with
// "\n" and have no spaces at their ends.
func (c Chart) Render(s Style) string {
	s.Width = max(s.Width, MinWidth)
	names := 0
	for _, r := range c.Rows {
		names = max(names, columns(r.Name))
	}
	names = min(names, s.Width/3)
	sc := scale{until: max(c.Until, time.Millisecond), cells: s.Width - names - 2}
	indent := strings.Repeat(" ", names+2)

	var b strings.Builder
	labels, ruler := sc.axis(s)
	b.WriteString(trimmed(indent + labels))
	b.WriteString(indent + ruler.paint(s) + "\n")
	for _, r := range c.Rows {
		b.WriteString(trimmed(fit(r.Name, names) + "  " + r.draw(sc).paint(s)))
	}
	return b.String()
}

// draw puts the row on a line of cells.
func (r Row) draw(sc scale) line {
	l := make(line, sc.cells)
	for _, span := range r.Spans {
		from, to := sc.cell(span.From), max(sc.cell(span.To), sc.cell(span.From)+1)
		for i := from; i < min(to, sc.cells); i++ {
			l[i] = cell{kind: span.Kind.cell(), color: span.Color}
		}
		l.label(span.Label, from, min(to, sc.cells))
	}
	for _, at := range r.Ticks {
		l[sc.cell(at)] = cell{kind: cellTick}
	}
	next := 0
	for _, m := range r.Marks { // two in one place stand side by side
		at := min(max(sc.cell(m.At), next), sc.cells-1)
		l[at] = cell{kind: cellMark, sign: m.Sign}
		next = at + 1
	}
	return l
}

// label writes text into the middle of the bar in cells [from, to), with a
// space on each side, or not at all.
func (l line) label(text string, from, to int) {
	n := columns(text)
	if text == "" || n+2 > to-from {
		return
	}
	at := from + (to-from-n-2)/2
	for _, r := range " " + text + " " {
		l[at].text = r
		at++
	}
}

// columns is how wide text is, which for what this package draws is its length.
func columns(text string) int { return len([]rune(text)) }

// fit makes text exactly n columns wide.
func fit(text string, n int) string {
	runes := []rune(text)
	if len(runes) > n {
		return string(runes[:n])
	}
	return text + strings.Repeat(" ", n-len(runes))
}

func trimmed(line string) string { return strings.TrimRight(line, " ") + "\n" }
