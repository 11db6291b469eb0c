package timeline

import "fmt"

// sample is something that is drawn and what it means.
type sample struct {
	draw    func(c *canvas, x, y float64) // around the height y
	width   float64
	meaning string
}

// group is a line of the legend, or a few.
type group struct {
	heading string
	samples []sample
}

const (
	lineHeight  = 20.0 // of the legend and of the lists
	headingRoom = 100.0
	maxKinds    = 16 // kinds of faults that are explained
)

// legend explains what was drawn, and nothing else. It returns its lower end.
func (l *layout) legend(c *canvas, y float64) float64 {
	column := (l.w - 2*margin - headingRoom) / float64(int((l.w-2*margin-headingRoom)/150))
	for _, g := range l.groups(c.used) {
		if len(g.samples) == 0 {
			continue
		}
		c.text("tag", g.heading, margin, y+4)
		x := margin + headingRoom
		for _, s := range g.samples {
			w := s.width + 6 + measure(s.meaning, textSize)
			if x > margin+headingRoom && x+w > l.w-margin {
				x, y = margin+headingRoom, y+lineHeight
			}
			s.draw(c, x, y)
			c.text("note", s.meaning, x+s.width+6, y+4)
			for next := x + w + 8; x < next; {
				x += column
			}
		}
		y += lineHeight
	}
	return y - lineHeight
}

func (l *layout) groups(used map[string]bool) []group {
	bars := group{heading: "reigns"}
	add := func(g *group, shown bool, s sample) {
		if shown {
			g.samples = append(g.samples, s)
		}
	}
	lives := false
	for _, b := range l.rows {
		lives = lives || len(b.lives) > 0
	}
	add(&bars, lives, sample{path("life", "M0 0H24"), 24, "a process lives"})
	add(&bars, used["bar"], sample{rect("bar"), 24, "it leads"})
	add(&bars, used["seen"], sample{rect("seen"), 24, "is seen to lead"})
	add(&bars, used["open"], sample{path("bar", "M0-6H16L23 0 16 6H0z"), 24, "it still leads"})
	add(&bars, used["rest"], sample{func(c *canvas, x, y float64) {
		c.empty("rect", "class", "rest", "x", x, "y", y-restHeight/2, "width", 24.0, "height", restHeight, "rx", 2.0)
	}, 24, "its term runs on"})
	add(&bars, used["notch"], sample{path("notch out", "M3-3v6M9-3v6"), 14, "renewals"})
	proofs, ends, marks := group{heading: "won by proof"}, group{heading: "ended by"}, group{heading: "moments"}
	for _, p := range proofNames[1:] {
		add(&proofs, used[p.glyph], shape(p.glyph, p.name))
	}
	for _, e := range endNames[1:] {
		add(&ends, used[e.glyph], shape(e.glyph, e.name))
	}
	for _, m := range markNames[1:] {
		add(&marks, used[m.glyph], shape(m.glyph, m.name))
	}
	add(&marks, len(l.Violations) > 0, sample{path("breach", "M6-7v14"), 14, "a violation"})
	return []group{bars, proofs, ends, marks, l.faultGroup()}
}

func (l *layout) faultGroup() group {
	g := group{heading: "faults"}
	for i, what := range l.faults[:min(len(l.faults), maxKinds)] {
		n := i % len(hatches)
		g.samples = append(g.samples, sample{func(c *canvas, x, y float64) {
			c.empty("rect", "class", fmt.Sprintf("strip h%d", n), "style", fmt.Sprintf("fill:url(#hatch%d)", n),
				"x", x, "y", y-3.5, "width", 24.0, "height", stripRoom-2)
		}, 24, isolated(shorten(named(what), textSize, l.w-2*margin-headingRoom-30))})
	}
	if n := len(l.faults) - maxKinds; n > 0 {
		g.samples = append(g.samples, sample{func(*canvas, float64, float64) {}, 0, "and " + counted(n, "other kind", "other kinds")})
	}
	return g
}

func path(class, d string) func(*canvas, float64, float64) {
	return func(c *canvas, x, y float64) {
		c.empty("path", "class", class, "transform", "translate("+pixels(x)+" "+pixels(y)+")", "d", d)
	}
}

func rect(class string) func(*canvas, float64, float64) {
	return func(c *canvas, x, y float64) {
		c.empty("rect", "class", class, "x", x, "y", y-6, "width", 24.0, "height", 12.0, "rx", 3.0)
	}
}

func shape(id, meaning string) sample {
	return sample{func(c *canvas, x, y float64) { c.glyph(id, "", x+6, y) }, 14, meaning}
}
