package timeline

import (
	"fmt"
	"io"
)

// madeBy marks the files that this package writes.
const madeBy = "cloudelect timeline"

// WriteSVG writes the chart as one SVG image. Its errors are those of Validate,
// and w's.
func (c *Chart) WriteSVG(w io.Writer) error {
	picture, err := c.picture()
	if err != nil {
		return err
	}
	if _, err := w.Write(picture); err != nil {
		return fmt.Errorf("timeline: write the picture: %w", err)
	}
	return nil
}

func (c *Chart) picture() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := c.layout()
	body := &canvas{used: map[string]bool{}}
	height := l.draw(body)
	out := &canvas{}
	out.open("svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", "0 0 "+pixels(l.w)+" "+pixels(height), "width", l.w, "height", height,
		"role", "img", "aria-labelledby", "tl-title tl-desc", "data-made-by", madeBy)
	out.WriteString("\n")
	out.element("title", l.title(), "id", "tl-title")
	out.element("desc", l.describe(), "id", "tl-desc")
	out.WriteString("<style>" + styleSheet() + "</style>\n" + body.defs())
	out.empty("rect", "class", "bg", "width", l.w, "height", height)
	out.Write(body.Bytes())
	out.close("svg")
	return out.Bytes(), nil
}

func (l *layout) title() string {
	if t := clean(l.Title); t != "" {
		return t
	}
	return "An election"
}

// describe is the picture for those who cannot see it.
func (l *layout) describe() string {
	if l.Chart.empty() {
		return "Nothing happened."
	}
	reigns, faults := 0, 0
	low, high := int64(0), int64(0)
	for _, r := range l.Chart.Rows {
		faults += len(r.Faults)
		for _, g := range r.Reigns {
			if reigns++; reigns == 1 {
				low, high = g.Token, g.Token
			}
			low, high = min(low, g.Token), max(high, g.Token)
		}
	}
	text := fmt.Sprintf("%d rows, %d reigns", len(l.Chart.Rows), reigns)
	if reigns > 0 {
		text += fmt.Sprintf(" with fencing tokens from %d to %d", low, high)
	}
	return fmt.Sprintf("%s, %d faults, %d violations; %s.", text, faults, len(l.Violations), l.between(saturated(l.scale.from), saturated(l.scale.until), false))
}

// draw draws everything, and returns how high that is.
func (l *layout) draw(c *canvas) float64 {
	c.text("title", shorten(l.title(), titleSize, l.w-2*margin), margin, 28)
	note := clean(l.Subtitle)
	if note == "" {
		note = l.caption()
	}
	c.text("note", shorten(note, textSize, l.w-2*margin), margin, 47)
	axis := 72.0
	y := axis + 8
	if len(l.Violations) > 0 {
		y += 18
	}
	top := y
	for i := range l.rows {
		l.rows[i].y = y
		y += l.rows[i].height()
	}
	if len(l.rows) == 0 || l.Chart.empty() {
		y += 48
	}
	bottom := y
	l.background(c, axis, top, bottom)
	if l.Chart.empty() {
		c.text("say middle", "Nothing happened.", l.left+l.scale.width/2, bottom-22)
	}
	for i := range l.rows {
		p := rowPainter{canvas: c, layout: l, b: &l.rows[i]}
		p.draw()
	}
	y = bottom
	if len(l.rows) > 12 { // nobody should have to scroll back
		y += 16
		l.axis(c, y)
	}
	if l.hidden > 0 {
		y += lineHeight
		c.text("note", fmt.Sprintf("and %d more rows, which are not drawn", l.hidden), margin, y)
	}
	y = l.violations(c, y)
	return l.legend(c, y+lineHeight) + margin
}

// background is the grid and what separates the rows.
func (l *layout) background(c *canvas, axis, top, bottom float64) {
	for i, b := range l.rows {
		if i%2 == 0 {
			c.empty("rect", "class", "zebra", "x", margin/2, "y", b.y, "width", l.w-margin, "height", b.height(), "rx", 4)
		}
	}
	for _, t := range l.ticks() {
		c.empty("path", "class", "grid", "d", "M"+pixels(t.x)+" "+pixels(axis+5)+"V"+pixels(bottom))
	}
	l.axis(c, axis)
	l.breaches(c, axis, bottom)
}

// axis writes the labels of the grid.
func (l *layout) axis(c *canvas, y float64) {
	last := 0.0
	for _, t := range l.ticks() {
		half := measure(t.text, textSize) / 2
		if t.x-half < last || t.x+half > l.w-2 {
			continue
		}
		c.text("tick middle", t.text, t.x, y)
		last = t.x + half + 6
	}
}

// breaches draws violations below everything else, with their numbers on top.
func (l *layout) breaches(c *canvas, axis, bottom float64) {
	last := 0.0
	for i, v := range l.Violations {
		if !l.holds(v.At) {
			continue
		}
		x := l.x(v.At)
		number := fmt.Sprintf("! %d", i+1)
		half := measure(number, textSize) / 2
		if x-half < last { // it would lie on the one before
			continue
		}
		last = x + half + 4
		c.hint(l.when(v.At)+"\nviolation: "+clean(v.Text), "path", "class", "breach", "d", "M"+pixels(x)+" "+pixels(axis+26)+"V"+pixels(bottom))
		c.text("alarm middle", number, x, axis+21)
	}
}

// violations lists them, and returns how far down that goes.
func (l *layout) violations(c *canvas, y float64) float64 {
	const most = 8
	for i, v := range l.Violations {
		y += lineHeight
		if i == most {
			c.text("alarm", fmt.Sprintf("and %d more", len(l.Violations)-most), margin, y)
			return y
		}
		text := fmt.Sprintf("! %d  %s: %s", i+1, l.when(v.At), clean(v.Text))
		c.text("alarm", shorten(text, textSize, l.w-2*margin), margin, y)
	}
	return y
}
