package timeline

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const s = time.Second

func sample() Chart {
	return Chart{
		Until: 20 * s,
		Rows: []Row{
			{Name: "worker-1", Spans: []Span{
				{From: 0, To: 8 * s, Kind: Waiting},
				{From: 1 * s, To: 8 * s, Kind: Leading, Label: "001", Color: 0},
				{From: 11 * s, To: 20 * s, Kind: Waiting},
			}, Marks: []Mark{{8 * s, Killed}}},
			{Name: "worker-2", Spans: []Span{
				{From: 0, To: 20 * s, Kind: Waiting},
				{From: 10 * s, To: 15 * s, Kind: Leading, Label: "002", Color: 1},
				{From: 15 * s, To: 18 * s, Kind: Frozen},
			}, Marks: []Mark{{15 * s, Stopped}, {18 * s, Continued}, {18 * s, Refused}}},
			{Name: "w3", Spans: []Span{
				{From: 0, To: 20 * s, Kind: Waiting},
				{From: 17 * s, To: 18 * s, Kind: Leading, Label: "003", Color: 2},
			}, Marks: []Mark{{18 * s, Terminated}}},
			{Name: "the log", Ticks: []time.Duration{1 * s, 1100 * time.Millisecond, 2 * s, 12 * s}},
		},
	}
}

// What the chart looks like is what it is for.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name  string
		style Style
		want  string
	}{
		{"unicode", Style{Width: 50, Unicode: true}, `
          0 s       5 s       10 s      15 s
          ┬─────────┬─────────┬─────────┬─────────
worker-1  ──████ 001 █████✗     ─────────────────
worker-2  ────────────────────██ 002 ███║┄┄┄┄┄►!─
w3        ──────────────────────────────────██▽──
the log     ▪ ▪                   ▪
`},
		{"ASCII", Style{Width: 50}, `
          0 s       5 s       10 s      15 s
          +---------+---------+---------+---------
worker-1  --#### 001 #####X     -----------------
worker-2  --------------------## 002 ###S:::::C!-
w3        ----------------------------------##T--
the log     . .                   .
`},
		{"too narrow", Style{Width: 10}, `
          0 s            10 s
          +--------------+--------------
worker-1  -### 001 ###X   -------------
worker-2  ---------------# 002 #S::::C!
w3        -------------------------##T-
the log    . .              .
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := sample().Render(c.style)
			if want := strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("drawn:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colours change nothing but colours: without them a bar is made of blocks.
func TestColour(t *testing.T) {
	got := sample().Render(Style{Width: 60, Unicode: true, Color: true})
	if !strings.Contains(got, "\x1b[30;46m       001 ") {
		t.Errorf("no label on a coloured bar in %q", got)
	}
	plain := strings.NewReplacer("█", " ").Replace(sample().Render(Style{Width: 60, Unicode: true}))
	for i, line := range strings.Split(escapes.ReplaceAllString(got, ""), "\n") {
		if want := strings.Split(plain, "\n")[i]; strings.TrimRight(line, " ") != strings.TrimRight(want, " ") {
			t.Errorf("line %d without its escape sequences is %q, want %q", i, line, want)
		}
		if colored := strings.Split(got, "\n")[i]; strings.Contains(colored, "\x1b") && !strings.HasSuffix(colored, "\x1b[0m") {
			t.Errorf("line %d leaves the terminal coloured: %q", i, colored)
		}
	}
}

func TestLegendExplainsWhatIsShownAndNoMore(t *testing.T) {
	got := sample().Legend(Style{Width: 60, Unicode: true}, Words{Kinds: map[Kind]string{Frozen: "ice"}, Signs: map[Sign]string{Killed: "kill -9"}})
	want := "── waiting   ┄┄ ice   ██ leading   ✗ kill -9   ║ stopped\n► continued   ▽ asked to stop   ! refused\n"
	if got != want {
		t.Errorf("legend\n%swant\n%s", got, want)
	}
	only := Chart{Rows: []Row{{Spans: []Span{{Kind: Leading}}}}}
	if got := only.Legend(Style{Width: 60}, Words{}); got != "## leading\n" {
		t.Errorf("legend %q, want of the bar only", got)
	}
	if got := (Chart{}).Legend(Style{Width: 60}, Words{}); got != "" {
		t.Errorf("legend of nothing: %q", got)
	}
}

// Whatever it is given, it draws as many lines as there are rows and one scale,
// none of them too wide, and does not panic.
func TestAnythingFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	any := func() time.Duration { return time.Duration(rng.Int64N(int64(60*s))) - 20*s }
	for range 2000 {
		c := Chart{Until: any()}
		if rng.IntN(10) == 0 {
			c.Until *= 100_000
		}
		for range rng.IntN(5) {
			r := Row{Name: strings.Repeat("é", rng.IntN(60))}
			for range rng.IntN(5) {
				r.Spans = append(r.Spans, Span{From: any(), To: any(), Kind: Kind(rng.IntN(3)), Label: strings.Repeat("7", rng.IntN(12)), Color: rng.IntN(20) - 10})
				r.Marks = append(r.Marks, Mark{any(), Sign(rng.IntN(5))})
				r.Ticks = append(r.Ticks, any())
			}
			c.Rows = append(c.Rows, r)
		}
		style := Style{Width: rng.IntN(200) - 20, Unicode: rng.IntN(2) == 0}
		got := c.Render(style)
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) != len(c.Rows)+2 {
			t.Fatalf("%d lines for %d rows:\n%s", len(lines), len(c.Rows), got)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > max(style.Width, MinWidth) {
				t.Fatalf("a line of %d columns at width %d: %q", n, style.Width, line)
			}
		}
	}
}
