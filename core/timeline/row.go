package timeline

import (
	"fmt"
	"strconv"

	"github.com/cloudelect/cloudelect/core"
)

// rowPainter draws one row. It remembers what is taken, so that nothing that has
// to be read lies on something else.
type rowPainter struct {
	*canvas
	*layout
	b           *band
	upper, main taken
}

// taken are stretches of a lane that are in use.
type taken [][2]float64

func (t taken) free(x0, x1 float64) bool {
	for _, s := range t {
		if x0 < s[1] && s[0] < x1 {
			return false
		}
	}
	return true
}

func (t *taken) take(x0, x1 float64) { *t = append(*t, [2]float64{x0, x1}) }

// settle finds a place for what wants to be around x: there, or further right.
func (t *taken) settle(x, half, end float64) float64 {
	for at := x; at+half <= end; at += half {
		if t.free(at-half, at+half) {
			t.take(at-half, at+half)
			return at
		}
	}
	return min(x, end-half)
}

func (p *rowPainter) draw() {
	b := p.b
	top := b.bar()
	mid := top + mainRoom/2
	p.open("g")
	p.open("text", "class", "name", "x", margin, "y", mid+4)
	if b.name != b.full {
		p.WriteString("<title>" + escaper.Replace(b.full) + "</title>")
	}
	p.WriteString(escaper.Replace(b.name))
	p.close("text")
	for _, s := range b.lives {
		p.hint(fmt.Sprintf("%s\n%s: a process", p.between(s.from, s.to, !s.ends && s.x1 >= p.right()), b.full),
			"path", "class", "life", "d", "M"+pixels(s.x0)+" "+pixels(mid)+"H"+pixels(s.x1))
	}
	for _, r := range b.rests {
		p.rest(r, mid)
	}
	for i := range b.bars {
		p.bar(i, top)
	}
	if !p.crowded {
		for _, d := range b.dots[Renewed] {
			p.notch(d, top)
		}
	}
	p.faults(top + mainRoom + 3)
	for i := range b.bars {
		p.proof(b.bars[i], top-upperRoom/2)
	}
	for i := range b.bars {
		p.end(i, mid)
	}
	p.dots(Told, &p.upper, top-upperRoom/2)
	for _, kind := range [...]MarkKind{Crashed, Refused, LostRace} {
		p.dots(kind, &p.main, mid)
	}
	for _, d := range b.dots[Wrote] {
		p.glyph(markNames[Wrote].glyph, p.hintDot(b.full, d), d.x, mid)
	}
	var small taken
	for _, kind := range [...]MarkKind{Trouble, Failed} {
		y := top + mainRoom + 3 + float64(b.lanes)*stripRoom + smallRoom/2
		p.dots(kind, &small, y)
	}
	for i := range b.bars {
		p.label(i, top)
	}
	p.close("g")
}

func (p *rowPainter) dots(kind MarkKind, lane *taken, y float64) {
	for _, d := range p.b.dots[kind] {
		p.glyph(markNames[kind].glyph, p.hintDot(p.b.full, d), lane.settle(d.x, 6, p.w-2), y)
	}
}

// bar draws a reign.
func (p *rowPainter) bar(i int, top float64) {
	b := p.b.bars[i]
	class := "bar"
	if b.Seen {
		class = "seen"
		p.used["seen"] = true
	} else {
		p.used["bar"] = true
	}
	hint := p.hintBar(p.b.full, b)
	if b.Open && b.x1 >= p.right()-1e-6 { // an arrow
		p.used["open"] = true
		p.hint(hint, "path", "class", class, "d", arrow(b.x0, b.x1, top))
		return
	}
	p.hint(hint, "rect", "class", class, "x", b.x0, "y", top, "width", b.x1-b.x0, "height", mainRoom, "rx", min((b.x1-b.x0)/2, 3))
}

// rest draws the end of a term whose leader is gone: others wait for it.
func (p *rowPainter) rest(r rest, mid float64) {
	p.used["rest"] = true
	p.hint(p.hintRest(p.b.full, r), "rect", "class", "rest", "x", r.x0, "y", mid-restHeight/2, "width", r.x1-r.x0, "height", restHeight, "rx", 2)
}

// arrow is the outline of a bar that goes on.
func arrow(x0, x1, top float64) string {
	return fmt.Sprintf("M%s %sH%sL%s %sL%s %sH%sz", pixels(x0), pixels(top), pixels(x1), pixels(x1+8), pixels(top+mainRoom/2),
		pixels(x1), pixels(top+mainRoom), pixels(x0))
}

// notch draws a renewal: in the lower edge of its bar.
func (p *rowPainter) notch(d dot, top float64) {
	class := "notch out"
	for _, b := range p.b.bars {
		if d.x >= b.x0 && d.x <= b.x1 && !b.Seen {
			class = "notch"
		}
	}
	p.used["notch"] = true
	p.hint(p.hintDot(p.b.full, d), "path", "class", class, "d", "M"+pixels(d.x)+" "+pixels(top+mainRoom-5)+"v5")
}

// proof draws how a reign was won, above its beginning, if there is room.
func (p *rowPainter) proof(b bar, y float64) {
	if b.Proof == core.ProofNone || b.count > 1 || !b.begins {
		return
	}
	x := min(b.x0+5.5, p.right()+tailRoom-6)
	if !p.upper.free(x-6.5, x+6.5) {
		return
	}
	p.upper.take(x-6.5, x+6.5)
	hint := ""
	if !p.crowded {
		hint = fmt.Sprintf("%s\n%s: won by the proof %s\nfencing token %d", p.when(b.from), p.b.full, b.Proof, b.Token)
	}
	p.glyph(proofNames[b.Proof].glyph, hint, x, y)
}

// end draws how a reign ended: right of its bar or above it, if there is room.
func (p *rowPainter) end(i int, y float64) {
	b := p.b.bars[i]
	if b.End == EndNone || b.count > 1 || !b.ends {
		return
	}
	x, lane := b.x1+8, &p.main
	if i+1 < len(p.b.bars) && p.b.bars[i+1].x0 < x+6 { // no room beside it: above
		x, y, lane = b.x1-7.5, y-(mainRoom+upperRoom)/2, &p.upper
	}
	if !lane.free(x-6, x+6) {
		return
	}
	lane.take(x-6, x+6)
	hint := ""
	if !p.crowded {
		hint = fmt.Sprintf("%s\n%s: %s\nfencing token %d", p.when(b.to), p.b.full, p.ending(b), b.Token)
	}
	p.glyph(endNames[b.End].glyph, hint, x, y)
}

func (p *rowPainter) faults(y float64) {
	for _, f := range p.b.strips {
		n := p.hatchOf[f.What] % len(hatches)
		id := fmt.Sprintf("hatch%d", n)
		p.used[id] = true
		p.hint(p.hintStrip(p.b.full, f), "rect", "class", fmt.Sprintf("strip h%d", n), "style", "fill:url(#"+id+")",
			"x", f.x0, "y", y+float64(f.lane)*stripRoom, "width", f.x1-f.x0, "height", stripRoom-2)
	}
}

// label writes the fencing token, and the proof where that fits, into the bar or
// beside it, or nowhere.
func (p *rowPainter) label(i int, top float64) {
	b := p.b.bars[i]
	token := strconv.FormatInt(b.Token, 10)
	short := token
	if len(token) > 5 {
		short = "…" + token[len(token)-3:]
	}
	if b.count > 1 {
		token = fmt.Sprintf("%d–%d", b.Token, b.lastly)
		short = strconv.Itoa(b.count) + "×"
	}
	inside := []string{token, short}
	if b.Proof != core.ProofNone && b.count == 1 {
		inside = []string{token + " · " + b.Proof.String(), token, short}
	}
	x1 := b.x1
	if i+1 < len(p.b.bars) {
		x1 = min(x1, p.b.bars[i+1].x0)
	}
	for _, text := range inside {
		w := 1.08 * measure(text, textSize) // it is bold
		x := (b.x0 + x1) / 2
		if w+10 <= x1-b.x0 && p.main.free(x-w/2-2, x+w/2+2) {
			class := "on middle"
			if b.Seen {
				class = "say middle"
			}
			p.main.take(x-w/2, x+w/2)
			p.text(class, text, x, top+13)
			return
		}
	}
	for _, text := range []string{token, short} {
		w := measure(text, textSize)
		for _, x := range [...]float64{b.x0 + 14, b.x0 + 1, b.x0 - w - 3} { // after the proof, in place of it, before it
			if x >= p.left && x+w <= p.w-margin && p.upper.free(x-2, x+w+2) {
				p.upper.take(x-1, x+w+1)
				p.text("tag", text, x, top-upperRoom/2+4)
				return
			}
		}
	}
}
