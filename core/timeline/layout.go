package timeline

// The measures of a picture, in pixels.
const (
	margin     = 16.0
	nameRoom   = 170.0 // that names have at most
	tailRoom   = 14.0  // right of the last instant, for what ends there
	rowPad     = 5.0
	upperRoom  = 17.0 // for proofs and labels above a bar
	mainRoom   = 20.0 // for the bar
	stripRoom  = 9.0  // for a fault
	restHeight = 9.0  // of what is left of a term
	smallRoom  = 11.0 // for failures and troubles
	maxStrips  = 4    // faults of one row at the same time
	budget     = 12_000

	textSize, nameSize, titleSize = 12.0, 13.0, 18.4 // of letters; the title's are bold
)

// layout is a chart that knows where everything goes.
type layout struct {
	*Chart
	scale
	w, nameWidth float64
	rows         []band
	hidden       int // rows that are not drawn
	grain        float64
	crowded      bool     // it is too much all the same: renewals and second hints are left out
	faults       []string // the kinds, in the order in which they are first drawn
	hatchOf      map[string]int
}

// band is a row that is drawn.
type band struct {
	*Row
	name, full    string
	y             float64
	upper, smalls bool
	lives         []piece
	bars          []bar
	rests         []rest
	strips        []strip
	lanes         int
	dots          [len(markNames)][]dot
}

func (c *Chart) layout() *layout {
	from, until := c.extent()
	l := &layout{Chart: c, w: defaultWidth, hatchOf: map[string]int{}}
	if c.Width != 0 {
		l.w = float64(c.Width)
	}
	rows := c.Rows[:min(len(c.Rows), MaxRows)]
	l.hidden = len(c.Rows) - len(rows)
	for _, r := range rows {
		l.nameWidth = min(max(l.nameWidth, measure(named(r.Name), nameSize)), nameRoom)
	}
	left := margin + l.nameWidth + 12
	l.scale = scale{c.Start, seconds(from), seconds(until), left, l.w - left - margin - tailRoom}
	for l.grain = 4; ; l.grain *= 2 { // coarser, until it is little enough
		l.rows = l.rows[:0]
		n := 0
		for i := range rows {
			b := l.band(&rows[i])
			l.rows = append(l.rows, b)
			n += b.parts()
		}
		if l.crowded = n > budget; !l.crowded || l.grain > 60 {
			break
		}
	}
	l.kinds()
	return l
}

// band places the parts of a row.
func (l *layout) band(r *Row) band {
	b := band{Row: r, full: isolated(named(r.Name))}
	b.name = isolated(shorten(named(r.Name), nameSize, l.nameWidth))
	for _, s := range r.Lives {
		if p, ok := l.place(s); ok && (len(b.lives) == 0 || p.x0 > b.lives[len(b.lives)-1].x1+1 || p.x1 > b.lives[len(b.lives)-1].x1+l.grain/2) {
			b.lives = append(b.lives, p)
		}
	}
	b.bars = l.scale.bars(r.Reigns, l.grain)
	b.rests = l.scale.rests(r.Reigns, l.grain)
	b.strips, b.lanes = l.scale.strips(r.Faults, l.grain, maxStrips)
	for kind := range b.dots {
		grain := max(l.grain, 10)
		if MarkKind(kind) == Renewed || MarkKind(kind) == Wrote {
			grain = l.grain
		}
		b.dots[kind] = l.scale.dots(r.Marks, MarkKind(kind), grain)
	}
	b.upper = len(b.bars)+len(b.dots[Told]) > 0
	b.smalls = len(b.dots[Failed])+len(b.dots[Trouble]) > 0
	return b
}

func (b *band) parts() int {
	n := len(b.lives) + len(b.bars) + len(b.rests) + len(b.strips)
	for _, d := range b.dots {
		n += len(d)
	}
	return n
}

func (b *band) height() float64 {
	h := 2*rowPad + mainRoom + float64(b.lanes)*stripRoom
	if b.upper {
		h += upperRoom
	}
	if b.lanes > 0 {
		h += 3
	}
	if b.smalls {
		h += smallRoom
	}
	return h
}

// bar is the top of the row's main lane.
func (b *band) bar() float64 {
	if b.upper {
		return b.y + rowPad + upperRoom
	}
	return b.y + rowPad
}

// kinds gives every kind of fault its hatching.
func (l *layout) kinds() {
	for _, b := range l.rows {
		for _, s := range b.strips {
			if _, known := l.hatchOf[s.What]; !known {
				l.hatchOf[s.What] = len(l.faults)
				l.faults = append(l.faults, s.What)
			}
		}
	}
}
