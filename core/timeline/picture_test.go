package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

const s = time.Second

func from(a, b time.Duration) Span { return Span{From: a, To: b} }

// sample has one of everything.
func sampleChart() *Chart {
	return &Chart{Rows: []Row{
		{Name: "worker-1", Lives: []Span{from(0, 8*s), {From: 11 * s, Open: true}},
			Reigns: []Reign{{Span: from(1*s, 8*s), Token: 1001, Proof: core.ProofVacant},
				{Span: Span{From: 27 * s, Open: true}, Token: 1005, Proof: core.ProofReclaimed}},
			Marks: []Mark{{At: 2 * s, Kind: Renewed, Token: 1001}, {At: 8 * s, Kind: Crashed}, {At: 20 * s, Kind: LostRace}}},
		{Name: "worker-2", Lives: []Span{from(0, 24*s)},
			Reigns: []Reign{{Span: from(10*s, 15*s), Token: 1002, Proof: core.ProofStoreTime, End: EndExpired},
				{Span: from(16*s, 16*s), Token: 1003, Proof: core.ProofClock, End: EndLost, Why: "leadership lost"}},
			Faults: []Fault{{Span: from(12*s, 18*s), What: "frozen"}, {Span: from(14*s, 19*s), What: "no connection", Detail: "to the store"}},
			Marks:  []Mark{{At: 18 * s, Kind: Refused}, {At: 13 * s, Kind: Failed}, {At: 14 * s, Kind: Trouble, Text: "the wall clock steps"}}},
		{Name: "worker-3", Reigns: []Reign{{Span: from(18*s, 25*s), Token: 1004, Proof: core.ProofObserved, End: EndResigned}}, Marks: []Mark{{At: 25 * s, Kind: Told}}},
		{Name: "other", Reigns: []Reign{{Span: from(28*s, 30*s), Token: 1006, Seen: true}}},
		{Name: "the log", Marks: []Mark{{At: 2 * s, Kind: Wrote}}},
	}, Violations: []Violation{{At: 29 * s, Text: "two leaders"}}}
}

// node is an element of a picture.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []*node    `xml:",any"`
}

func (n *node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (n *node) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(n.attr(name), 64)
	if err != nil {
		t.Fatalf("the %s of <%s> %q is %q, not a number", name, n.XMLName.Local, n.Text, n.attr(name))
	}
	return v
}

func (n *node) walk(f func(*node)) {
	f(n)
	for _, c := range n.Children {
		c.walk(f)
	}
}

// all are the elements with this name below n.
func (n *node) all(name string) (found []*node) {
	n.walk(func(c *node) {
		if c.XMLName.Local == name {
			found = append(found, c)
		}
	})
	return found
}

// draw writes the chart and reads it as XML.
func draw(t *testing.T, c *Chart) *node {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

func parse(t *testing.T, svg []byte) *node {
	t.Helper()
	var root node
	if err := xml.Unmarshal(svg, &root); err != nil {
		t.Fatalf("it is no XML: %v\n%.2000s", err, svg)
	}
	return &root
}

func titles(root *node) (all []string) {
	for _, n := range root.all("title") {
		all = append(all, n.Text)
	}
	return all
}

// Everything in a chart can be pointed at, and says when, what, and which token.
func TestEverythingSaysWhatItIs(t *testing.T) {
	told := "\n" + strings.Join(titles(draw(t, sampleChart())), "\n\n") + "\n"
	for _, want := range []string{
		"\n1.000 s to 8.000 s\nworker-1 leads, fencing token 1001\nwon by the proof vacant\n",
		"\nsince 27.000 s\nworker-1 leads, fencing token 1005\nwon by the proof reclaimed\nstill leads\n",
		"\n16.000 s\nworker-2 leads, fencing token 1003\nwon by the proof clock\nended by: another's write, leadership lost\n",
		"\n2.000 s\nworker-1: a renewal\nfencing token 1001\n",
		"\n8.000 s\nworker-1: the process crashes\n",
		"\n20.000 s\nworker-1: a race is lost\n",
		"\n12.000 s to 18.000 s\nworker-2: frozen\n",
		"\n14.000 s to 19.000 s\nworker-2: no connection, to the store\n",
		"\n14.000 s\nworker-2: the wall clock steps\n",
		"\n28.000 s to 30.000 s\nother leads, fencing token 1006, as another one saw it\n",
		"\n10.000 s\nworker-2: won by the proof store-time\nfencing token 1002\n",
		"\n15.000 s\nworker-2: ended by: end of the term\nfencing token 1002\n",
		"\n29.000 s\nviolation: two leaders\n",
		"\nsince 11.000 s\nworker-1: a process\n",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("nothing says %q", want)
		}
	}
}

// The legend explains every shape that is drawn, and no other.
func TestLegendExplainsWhatIsShownAndNoMore(t *testing.T) {
	has := func(root *node, text string) bool {
		for _, n := range root.all("text") {
			if n.Text == text {
				return true
			}
		}
		return false
	}
	everything := []string{"a process lives", "it leads", "is seen to lead", "it still leads", "renewals", "vacant", "reclaimed",
		"store-time", "observed", "clock", "resignation", "end of the term", "another's write", "a write", "a late write is refused",
		"the process crashes", "the process is asked to end", "a race is lost", "a request fails", "another fault", "a violation", "frozen", "no connection"}
	full := draw(t, sampleChart())
	one := draw(t, &Chart{Rows: []Row{{Name: "a", Reigns: []Reign{{Span: from(1*s, 2*s), Token: 7, Proof: core.ProofObserved}}}}})
	for _, what := range everything {
		if !has(full, what) {
			t.Errorf("the legend of a chart with everything does not explain %q", what)
		}
		if want := what == "it leads" || what == "observed"; has(one, what) != want {
			t.Errorf("a chart of one reign: that the legend has %q is %v", what, !want)
		}
	}
	for _, u := range full.all("use") {
		if id := strings.TrimPrefix(u.attr("href"), "#"); !defined(full, id) {
			t.Errorf("the shape %q is used and not defined", id)
		}
	}
}

func defined(root *node, id string) bool {
	found := false
	root.walk(func(n *node) { found = found || n.attr("id") == id })
	return found
}

func TestEmptyChart(t *testing.T) {
	for name, c := range map[string]*Chart{"nothing": {}, "a row": {Rows: []Row{{Name: "a"}}},
		"elsewhere": {From: 10 * s, Until: 20 * s, Rows: []Row{{Lives: []Span{from(1*s, 2*s)}}}}} {
		root := draw(t, c)
		found := 0
		for _, n := range root.all("text") {
			if n.Text == "Nothing happened." {
				found++
			}
		}
		if desc := root.all("desc"); found != 1 || desc[0].Text != "Nothing happened." {
			t.Errorf("%s: it says %d times that nothing happened, and describes itself as %q", name, found, desc[0].Text)
		}
	}
}

// A reign that took no time is wide enough to be seen, also at the very end.
func TestZeroLengthReigns(t *testing.T) {
	root := draw(t, &Chart{Rows: []Row{{Reigns: []Reign{{Span: from(0, 0), Token: 1}, {Span: from(50*s, 50*s), Token: 2}, {Span: from(100*s, 100*s), Token: 3}}}}})
	n := 0
	for _, r := range root.all("rect") {
		if r.attr("class") == "bar" && len(r.all("title")) > 0 {
			if n++; r.number(t, "width") < least {
				t.Errorf("a bar is %v wide", r.attr("width"))
			}
		}
	}
	if n != 3 {
		t.Errorf("%d bars, want 3", n)
	}
}

// Names are what anybody has stored.
func TestForeignText(t *testing.T) {
	const evil = "\"'><script>alert(1)</script>&amp;<!--]]>\x00\x1b[31m\x7f\u0085\u202egnp\ufffe\u2028\xff\nname"
	c := sampleChart()
	c.Title, c.Subtitle = evil, evil
	c.Rows[0].Name, c.Rows[0].Marks[1].Text = evil, evil
	c.Rows[1].Reigns[1].Why = evil
	c.Rows[1].Faults[0].What, c.Rows[1].Faults[1].Detail = evil, evil
	c.Violations[0].Text = evil
	root := draw(t, c)
	if n := len(root.all("script")); n != 0 {
		t.Errorf("%d scripts", n)
	}
	const shown = "\"'><script>alert(1)</script>&amp;<!--]]>␀␛[31m␡��gnp��" + "�␊name"
	if got := root.all("title")[0].Text; got != shown {
		t.Errorf("the title is %q,\nwant %q", got, shown)
	}
	var page bytes.Buffer
	if err := c.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if text := page.String(); strings.Contains(text, "<script") || strings.ContainsAny(text, "\x00\x1b\x7f\u202e") {
		t.Error("the page has what nobody may put into it")
	}
}

func TestLongNames(t *testing.T) {
	name := "worker-" + strings.Repeat("long-", 100) + "7"
	root := draw(t, &Chart{Rows: []Row{{Name: name, Lives: []Span{from(0, s)}}}})
	for _, n := range root.all("text") {
		if n.attr("class") == "name" {
			if text := n.Text; !strings.HasPrefix(text, "work") || !strings.HasSuffix(text, "7") || measure(text, nameSize) > nameRoom {
				t.Errorf("the name is shown as %q", text)
			}
			if n.all("title")[0].Text != name {
				t.Errorf("pointing at it shows %q", n.all("title")[0].Text)
			}
			return
		}
	}
	t.Error("there is no name")
}

func TestSameChartSamePicture(t *testing.T) {
	var one, two bytes.Buffer
	for _, b := range []*bytes.Buffer{&one, &two} {
		if err := sampleChart().WriteHTML(b); err != nil {
			t.Fatal(err)
		}
	}
	if one.String() != two.String() {
		t.Error("the same chart was drawn in two ways")
	}
	if !IsPicture(one.Bytes()[:min(4096, one.Len())]) {
		t.Error("a page of this package is not known as one")
	}
	var svg bytes.Buffer
	if _ = sampleChart().WriteSVG(&svg); !IsPicture(svg.Bytes()[:4096]) {
		t.Error("a picture of this package is not known as one")
	}
	for _, other := range []string{"", "<svg xmlns='x'/>", "#!/bin/sh\n# data-made-by=\"" + madeBy + `"`, "<!DOCTYPE html><p>my page"} {
		if IsPicture([]byte(other)) {
			t.Errorf("%q counts as a picture of this package", other)
		}
	}
}

func TestInvalidCharts(t *testing.T) {
	row := func(r Row) *Chart { return &Chart{Rows: []Row{r}} }
	for _, c := range []struct {
		chart *Chart
		say   string
	}{
		{&Chart{Width: 100}, "Width is 100"},
		{&Chart{Width: -1}, "Width is -1"},
		{&Chart{From: 2 * s, Until: s}, "Until must come later"},
		{row(Row{Name: "a", Reigns: []Reign{{Span: from(2*s, s), Token: 9}}}), `row 0 ("a"): reign 0 (token 9) ends at 1s, before it begins at 2s`},
		{row(Row{Lives: []Span{from(2*s, s)}}), "life 0 ends"},
		{row(Row{Faults: []Fault{{Span: from(2*s, s), What: "x"}}}), `fault 0 ("x") ends`},
		{row(Row{Marks: []Mark{{Kind: 99}}}), "mark 0 has the Kind 99"},
		{row(Row{Marks: []Mark{{Kind: -1}}}), "mark 0 has the Kind -1"},
		{row(Row{Reigns: []Reign{{Proof: 77}}}), "no proof"},
		{row(Row{Reigns: []Reign{{End: -2}}}), "End -2"},
	} {
		err := c.chart.WriteSVG(io.Discard)
		if !errors.Is(err, ErrInvalidChart) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%+v: %v, want an ErrInvalidChart that says %q", c.chart, err, c.say)
		}
		if err := c.chart.WriteHTML(io.Discard); !errors.Is(err, ErrInvalidChart) {
			t.Errorf("%+v as a page: %v", c.chart, err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestWriteErrors(t *testing.T) {
	if err := sampleChart().WriteSVG(full{}); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("%v", err)
	}
	if err := sampleChart().WriteHTML(full{}); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("%v", err)
	}
}

// However much happened, the picture stays small.
func TestMuchStaysSmall(t *testing.T) {
	c := &Chart{}
	for i := range 1000 {
		r := Row{Name: fmt.Sprint("candidate-", i)}
		for j := range 30 {
			at := time.Duration(j*1000+i) * s
			r.Reigns = append(r.Reigns, Reign{Span: from(at, at+s), Token: int64(j*1000 + i), Proof: core.ProofVacant, End: EndResigned})
			for k := range 10 {
				r.Marks = append(r.Marks, Mark{At: at + time.Duration(k)*s/10, Kind: Renewed, Token: int64(j*1000 + i)})
			}
		}
		c.Rows = append(c.Rows, r)
	}
	for range 20 {
		row := &c.Rows[rand.IntN(10)]
		row.Faults = append(row.Faults, Fault{Span: from(0, 10*s), What: "x"})
	}
	var b bytes.Buffer
	if err := c.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 4<<20 {
		t.Errorf("the picture has %d bytes", b.Len())
	}
	if !strings.Contains(b.String(), "and 600 more rows, which are not drawn") {
		t.Error("it does not say that rows are left out")
	}
}
