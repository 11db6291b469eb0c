package timeline

import (
	"fmt"
	"io"
	"strings"
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
	out.element("title", isolated(l.title()), "id", "tl-title")
	out.element("desc", l.describe(), "id", "tl-desc")
	out.WriteString("<style>" + styleSheet() + "</style>\n" + body.defs())
	out.empty("rect", "class", "bg", "width", l.w, "height", height)
	out.Write(body.Bytes())
	out.close("svg")
	return out.Bytes(), nil
}

func (l *layout) title() string {
	if t := clean(l.Title); strings.TrimSpace(t) != "" {
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
	text := counted(len(l.Chart.Rows), "row", "rows") + ", " + counted(reigns, "reign", "reigns")
	switch {
	case reigns == 1:
		text += fmt.Sprintf(" with the fencing token %d", low)
	case reigns > 1:
		text += fmt.Sprintf(" with fencing tokens from %d to %d", low, high)
	}
	return fmt.Sprintf("%s, %s, %s; %s.", text, counted(faults, "fault", "faults"),
		counted(len(l.Violations), "violation", "violations"), l.between(saturated(l.scale.from), saturated(l.scale.until), false))
}

// draw draws everything, and returns how high that is.
func (l *layout) draw(c *canvas) float64 {
	c.text("title", isolated(shorten(l.title(), titleSize, l.w-2*margin)), margin, 28)
	note := clean(l.Subtitle)
	if strings.TrimSpace(note) == "" {
		note = l.caption()
	}
	c.text("note", isolated(shorten(note, textSize, l.w-2*margin)), margin, 47)
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
		c.text("note", "and "+counted(l.hidden, "more row, which is not drawn", "more rows, which are not drawn"), margin, y)
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
