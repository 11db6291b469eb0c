package timeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Nil is an error or nothing, never a panic.
func TestNil(t *testing.T) {
	var c *Chart
	for what, err := range map[string]error{"WriteSVG": c.WriteSVG(io.Discard), "WriteHTML": c.WriteHTML(io.Discard), "Validate": c.Validate()} {
		if !errors.Is(err, ErrInvalidChart) || !strings.Contains(err.Error(), "nil") {
			t.Errorf("%s of a nil Chart: %v, want an ErrInvalidChart", what, err)
		}
	}
	var r *Recorder
	r.OnEvent(core.Event{Kind: core.EventElected})
	r.Saw(begin, entry.RaceEntry{LeaderID: "a"})
	for _, c := range []*Chart{r.Chart(), r.ChartAt(begin)} {
		if c == nil || !c.empty() {
			t.Errorf("a nil Recorder has the chart %+v", c)
		}
	}
}

// Over several days the axis has dates, at every midnight, and the subtitle says from
// when to when.
func TestDates(t *testing.T) {
	east := time.FixedZone("EAST", 5*3600+1800)
	for _, c := range []struct {
		start time.Time
		until time.Duration
		ticks string
		note  string
	}{
		{time.Date(2026, 12, 30, 18, 0, 0, 0, time.UTC), 60 * time.Hour,
			"[2026-12-31 12:00 2027-01-01 12:00 2027-01-02]",
			"From 2026-12-30 18:00:00 to 2027-01-02 06:00:00, UTC (UTC+00:00)."},
		{time.Date(2026, 12, 30, 23, 59, 40, 0, east), 40 * s,
			"[23:59:40 23:59:45 23:59:50 23:59:55 2026-12-31 00:00:05 00:00:10 00:00:15 00:00:20]",
			"From 2026-12-30 23:59:40 to 2026-12-31 00:00:20, EAST (UTC+05:30)."},
		{time.Date(2026, 12, 30, 9, 0, 0, 0, time.UTC), 40 * s,
			"[09:00:00 09:00:05 09:00:10 09:00:15 09:00:20 09:00:25 09:00:30 09:00:35 09:00:40]",
			"Times of day on 2026-12-30, UTC (UTC+00:00)."},
	} {
		chart := &Chart{Start: c.start, Until: c.until, Rows: []Row{{Name: "a", Reigns: []Reign{{Span: from(0, c.until), Token: 1}}}}}
		if got := fmt.Sprint(texts(chart.layout().ticks())); got != c.ticks {
			t.Errorf("ticks %s,\nwant  %s", got, c.ticks)
		}
		shown := map[string]bool{}
		for _, n := range draw(t, chart).all("text") {
			shown[n.Text] = true
		}
		if !shown[c.note] {
			t.Errorf("the subtitle is not %q: %v", c.note, shown)
		}
		for _, tick := range texts(chart.layout().ticks()) {
			if strings.HasPrefix(tick, "20") && !shown[tick] {
				t.Errorf("the date %s is not shown", tick)
			}
		}
	}
	// Where clocks change, midnight may lie between two ticks.
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this host knows no time zones")
	}
	chart := &Chart{Start: time.Date(2026, 10, 24, 12, 0, 0, 0, berlin), Until: 48 * time.Hour}
	if got := fmt.Sprint(texts(chart.layout().ticks())); !strings.Contains(got, "2026-10-25") || !strings.Contains(got, "10-26 ") && !strings.Contains(got, "2026-10-26") {
		t.Errorf("ticks over the end of summer time: %s", got)
	}
}

// What was forgotten takes no date away.
func TestDatesOfWhatIsForgotten(t *testing.T) {
	r := Recorder{Most: 50}
	for i := range 300 {
		r.Saw(begin.Add(time.Duration(i)*time.Hour), seenEntry("a", int64(i), int64(i)))
	}
	if note := r.Chart().Subtitle; !strings.HasPrefix(note, "From 2026-12-") || !strings.Contains(note, " to 2026-12-13 11:00:00, UTC") || !strings.HasSuffix(note, "What was before is forgotten.") {
		t.Errorf("the subtitle is %q", note)
	}
}

// A name that nobody would see is quoted, everywhere.
func TestNamesThatCannotBeSeen(t *testing.T) {
	for name, want := range map[string]string{
		"": `""`, "   ": `"   "`, "\u00a0": `"\u00a0"`, "\u200b\u2060": `"\u200b\u2060"`, "\u3164": `"\u3164"`,
		" a": `" a"`, "a ": `"a "`, "a b": "a b", "\n": "␊", "-": "-",
	} {
		c := &Chart{Rows: []Row{{Name: name, Reigns: []Reign{{Span: from(0, s), Token: 1}}, Faults: []Fault{{Span: from(0, s), What: name}}}}}
		root := draw(t, c)
		names := 0
		for _, n := range root.all("text") {
			if n.Text == want {
				names++
			}
		}
		if names != 2 {
			t.Errorf("%q: %d texts are %s, want the name and the fault in the legend", name, names, want)
		}
		if told := strings.Join(titles(root), "\n"); !strings.Contains(told, want+" leads, fencing token 1") {
			t.Errorf("%q: pointing at it shows %q", name, told)
		}
		var page bytes.Buffer
		if err := c.WriteHTML(&page); err != nil || !strings.Contains(page.String(), "<td>"+escaper.Replace(want)+"</td>") {
			t.Errorf("%q: it is not in the table (%v)", name, err)
		}
	}
	for _, n := range draw(t, &Chart{Title: "  ", Subtitle: "\t "[1:]}).all("text") {
		if strings.TrimSpace(n.Text) == "" {
			t.Errorf("there is an empty text of the class %q", n.attr("class"))
		}
	}
}

// A name that is written from right to left is cut where it ends, and turns nothing
// that stands beside it.
func TestNamesFromRightToLeft(t *testing.T) {
	const isolate, pop = "\u2068", "\u2069"
	long := strings.Repeat("שלום עולם ", 8) + "1"
	short := "العربية 123"
	c := &Chart{Title: long, Rows: []Row{{Name: long, Reigns: []Reign{{Span: from(0, 9*s), Token: 7, Why: long, End: EndLost}},
		Faults: []Fault{{Span: from(0, s), What: short, Detail: short}}, Marks: []Mark{{At: s, Kind: Trouble, Text: short}}}, {Name: short}},
		Violations: []Violation{{At: s, Text: long}}}
	root := draw(t, c)
	var names []string
	root.walk(func(n *node) {
		if n.XMLName.Local != "text" && n.XMLName.Local != "title" || !rightToLeft(n.Text) {
			return
		}
		opened := 0
		for _, r := range n.Text {
			switch {
			case string(r) == isolate:
				opened++
			case string(r) == pop:
				opened--
			case opened < 1 && rightToLeft(string(r)):
				t.Errorf("%q is not isolated", n.Text)
				return
			}
		}
		if opened != 0 {
			t.Errorf("%q has %d isolates that do not end", n.Text, opened)
		}
		if n.attr("class") == "name" {
			names = append(names, n.Text)
		}
	})
	if len(names) != 2 || names[1] != isolate+short+pop {
		t.Fatalf("the names are %q", names)
	}
	cut, ok := strings.CutSuffix(strings.TrimPrefix(names[0], isolate), "…"+pop)
	if !ok || cut == "" || !strings.HasPrefix(long, cut) {
		t.Errorf("the name is cut to %q, want its beginning", names[0])
	}
}

// Every violation's number is at its line, and every line is drawn.
func TestViolationsAtOneMoment(t *testing.T) {
	numbers := func(at ...time.Duration) (labels []string, lines int) {
		c := &Chart{Until: 100 * s, Rows: []Row{{Name: "a"}}}
		for i, at := range at {
			c.Violations = append(c.Violations, Violation{At: at, Text: fmt.Sprint("fault ", i+1)})
		}
		root := draw(t, c)
		for _, n := range root.all("text") {
			if n.attr("class") == "alarm middle" {
				labels = append(labels, n.Text)
			}
		}
		for _, n := range root.all("path") {
			if n.attr("class") == "breach" && len(n.all("title")) > 0 {
				lines++
			}
		}
		for i := range at {
			if !strings.Contains(strings.Join(titles(root), "\n"), fmt.Sprint("violation: fault ", i+1)) {
				t.Errorf("nothing that can be pointed at tells of the violation %d", i+1)
			}
		}
		return labels, lines
	}
	for _, c := range []struct {
		at     []time.Duration
		labels string
		lines  int
	}{
		{[]time.Duration{50 * s, 50 * s}, `["! 1, 2"]`, 1},
		{[]time.Duration{50 * s, 50*s + 1}, `["! 1, 2"]`, 1},
		{[]time.Duration{50 * s, 51 * s}, `["! 1, 2"]`, 2},
		{[]time.Duration{90 * s, 10 * s}, `["! 2" "! 1"]`, 2},
		{[]time.Duration{50 * s, 10 * s, 50 * s}, `["! 2" "! 1, 3"]`, 2},
		{[]time.Duration{100 * s, 100 * s, 100 * s, 100 * s}, `["! 1 to 4"]`, 1},
		{[]time.Duration{s, 50 * s, s, s, s, s, s, s}, `["! 1, 3, 4 and 4 more" "! 2"]`, 2},
	} {
		labels, lines := numbers(c.at...)
		if got := fmt.Sprintf("%q", labels); got != c.labels || lines != c.lines {
			t.Errorf("violations at %v: the labels %s at %d lines, want %s at %d", c.at, got, lines, c.labels, c.lines)
		}
	}
}

// One is not many.
func TestOneAndMany(t *testing.T) {
	one := &Chart{Rows: []Row{{Name: "a", Reigns: []Reign{{Span: from(0, s), Token: 7}}}}}
	var page bytes.Buffer
	if err := one.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The same as a table: 1 reign<", "1 row, 1 reign with the fencing token 7, 0 faults, 0 violations;"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("a page of one reign does not say %q", want)
		}
	}
	for n, want := range map[int]string{MaxRows + 1: "and 1 more row, which is not drawn", MaxRows + 2: "and 2 more rows, which are not drawn"} {
		found := false
		for _, text := range draw(t, &Chart{Rows: make([]Row, n)}).all("text") {
			found = found || text.Text == want
		}
		if !found {
			t.Errorf("%d rows: it does not say %q", n, want)
		}
	}
}
