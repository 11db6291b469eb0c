package timeline

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// box is what a label covers.
type box struct {
	x0, x1, y0, y1 float64
	text           string
}

// labels are the texts of a picture, which are as wide as measure says at most.
func labels(t *testing.T, root *node) (all []box) {
	for _, n := range root.all("text") {
		size := 12.0
		switch class := n.attr("class"); {
		case strings.HasPrefix(class, "title"):
			size = 17
		case strings.HasPrefix(class, "name"):
			size = 13
		}
		w, x, y := measure(n.Text, size), n.number(t, "x"), n.number(t, "y")
		if strings.Contains(n.attr("class"), "middle") {
			x -= w / 2
		}
		all = append(all, box{x, x + w, y - 0.75*size, y + 0.2*size, n.Text})
	}
	return all
}

// No label lies on another one, and none leaves the picture, whatever is drawn.
func TestLabelsDoNotOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for i := range 60 {
		c := randomChart(rng)
		root := draw(t, c)
		width, height := root.number(t, "width"), root.number(t, "height")
		all := labels(t, root)
		for i, a := range all {
			if a.x0 < -0.1 || a.x1 > width+0.1 || a.y0 < 0 || a.y1 > height {
				t.Fatalf("chart %d: the label %q leaves the picture: %+v of %v x %v", i, a.text, a, width, height)
			}
			for _, b := range all[:i] {
				if a.x0 < b.x1-0.1 && b.x0 < a.x1-0.1 && a.y0 < b.y1-0.1 && b.y0 < a.y1-0.1 {
					t.Fatalf("chart %d: labels overlap: %+v and %+v\n%+v", i, a, b, c)
				}
			}
		}
		for _, n := range root.all("use") {
			if x := n.number(t, "x"); x < 0 || x > width {
				t.Fatalf("chart %d: a mark is at %v of %v", i, x, width)
			}
		}
	}
}

func randomChart(rng *rand.Rand) *Chart {
	scale := time.Duration(math.Pow(10, 3+13*rng.Float64()))
	any := func() time.Duration { return time.Duration(rng.Int64N(int64(scale))) - scale/8 }
	span := func() Span {
		a, b := any(), any()
		return Span{From: min(a, b), To: max(a, b), Open: rng.IntN(8) == 0}
	}
	word := func() string {
		return strings.Repeat(string(rune([]rune{'a', 'W', 'é', '漢', '😀', '.', '\n', '7'}[rng.IntN(8)])), rng.IntN(1+rng.IntN(60)))
	}
	c := &Chart{Title: word(), Subtitle: word()}
	if rng.IntN(2) == 0 {
		c.Start = time.Unix(rng.Int64N(4e9), rng.Int64N(1e9)).In(time.FixedZone("somewhere", rng.IntN(86400)-43200))
	}
	if rng.IntN(3) == 0 {
		c.From = any()
		c.Until = c.From + 1 + time.Duration(rng.Int64N(int64(scale)))
	}
	if rng.IntN(3) == 0 {
		c.Width = minWidth + rng.IntN(2000)
	}
	for range rng.IntN(15) {
		r := Row{Name: word()}
		for range rng.IntN(4) {
			r.Lives = append(r.Lives, span())
			r.Faults = append(r.Faults, Fault{Span: span(), What: word(), Detail: word()})
		}
		token := rng.Int64N(int64(math.Pow(10, 1+17*rng.Float64())))
		for range rng.IntN(1 + rng.IntN(30)) {
			token++
			g := Reign{Span: span(), Token: token, Proof: core.Proof(rng.IntN(6)), End: End(rng.IntN(4)), Why: word(), Seen: rng.IntN(4) == 0}
			if rng.IntN(2) == 0 && !g.Open {
				g.To = g.From + (g.To-g.From)/50
			}
			r.Reigns = append(r.Reigns, g)
		}
		for range rng.IntN(1 + rng.IntN(40)) {
			r.Marks = append(r.Marks, Mark{At: any(), Kind: MarkKind(rng.IntN(len(markNames))), Text: word(), Token: rng.Int64N(100) - 5, Count: rng.IntN(5) - 1})
		}
		c.Rows = append(c.Rows, r)
	}
	for range rng.IntN(1 + rng.IntN(12)) {
		c.Violations = append(c.Violations, Violation{At: any(), Text: word()})
	}
	return c
}

// Whatever a chart holds, it is drawn, or there is an error.
func FuzzChart(f *testing.F) {
	f.Add(uint64(1), int64(0), int64(0), int64(1), int64(2), "a", int64(0), int8(0), int8(0), 0)
	f.Add(uint64(2), int64(math.MinInt64), int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64), "\x00<", int64(math.MaxInt64), int8(1), int8(3), 960)
	f.Add(uint64(3), int64(5), int64(-5), int64(9), int64(3), "\xff\xfe", int64(-1), int8(9), int8(9), -3)
	f.Fuzz(func(t *testing.T, seed uint64, from, until, a, b int64, text string, token int64, proof, kind int8, width int) {
		rng := rand.New(rand.NewPCG(seed, 1))
		span := Span{From: time.Duration(a), To: time.Duration(b), Open: seed%5 == 0}
		c := randomChart(rng)
		c.Width = width
		c.From, c.Until = time.Duration(from), time.Duration(until)
		c.Rows = append(c.Rows, Row{Name: text, Lives: []Span{span}, Faults: []Fault{{Span: span, What: text, Detail: text}},
			Reigns: []Reign{{Span: span, Token: token, Proof: core.Proof(proof), End: End(kind), Why: text}},
			Marks:  []Mark{{At: span.From, Kind: MarkKind(kind), Text: text, Token: token}}})
		c.Violations = append(c.Violations, Violation{At: span.To, Text: text})
		var page, svg bytes.Buffer
		if err := c.WriteSVG(&svg); err != nil {
			if c.Validate() == nil {
				t.Fatal(err)
			}
			return
		}
		parse(t, svg.Bytes())
		if strings.Contains(svg.String(), "NaN") && !strings.Contains(text, "NaN") {
			t.Error("a coordinate is no number")
		}
		if err := c.WriteHTML(&page); err != nil || !strings.HasPrefix(page.String(), "<!DOCTYPE html>") {
			t.Errorf("the page: %v", err)
		}
	})
}

// Labels of the axis are round, rise, and do not repeat, from a nanosecond to ages.
func TestTicks(t *testing.T) {
	for length := 10.0; length < 1<<63; length *= 3 {
		for _, start := range []time.Time{{}, time.Date(2026, 12, 1, 23, 59, 58, 7e8, time.FixedZone("", 5*3600+1800))} {
			c := Chart{Start: start, From: time.Duration(length / 7), Until: time.Duration(length/7) + time.Duration(length/2)}
			ticks := c.layout().ticks()
			if len(ticks) < 2 || len(ticks) > 12 {
				t.Errorf("%v from %v has %d ticks", c.Until-c.From, start, len(ticks))
			}
			seen := map[string]bool{}
			for _, tick := range ticks {
				if seen[tick.text] && start.IsZero() {
					t.Errorf("%v: two ticks say %q", c.Until-c.From, tick.text)
				}
				seen[tick.text] = true
			}
		}
	}
	one := Chart{Start: time.Date(2026, 12, 1, 9, 59, 52, 0, time.UTC), Until: 40 * s}
	if got := fmt.Sprint(texts(one.layout().ticks())); got != "[09:59:55 10:00:00 10:00:05 10:00:10 10:00:15 10:00:20 10:00:25 10:00:30]" {
		t.Errorf("ticks of a clock: %s", got)
	}
	if got := fmt.Sprint(texts((&Chart{Until: 95 * s}).layout().ticks())); got != "[0 10 s 20 s 30 s 40 s 50 s 60 s 70 s 80 s 90 s]" && got != "[0 15 s 30 s 45 s 60 s 75 s 90 s]" {
		t.Errorf("ticks from the beginning: %s", got)
	}
}

func texts(ticks []tick) (all []string) {
	for _, t := range ticks {
		all = append(all, t.text)
	}
	return all
}
