package timeline

import (
	"fmt"
	"strings"
)

// line is one row of the screen, before it is known what the screen can show.
type line []cell

type cell struct {
	kind  cellKind
	color int
	sign  Sign
	text  rune // of a label, or 0
}

type cellKind int

const (
	cellEmpty cellKind = iota
	cellRuler
	cellNotch
	cellWaiting
	cellFrozen
	cellLeading
	cellTick
	cellMark
)

func (k Kind) cell() cellKind { return [...]cellKind{cellWaiting, cellFrozen, cellLeading}[k] }

// glyph is what a cell shows. A bar in colour is made of coloured spaces, so
// that its label stands on it; without colours it has to be made of blocks.
func (c cell) glyph(s Style) rune {
	switch {
	case c.text != 0:
		return c.text
	case c.kind == cellMark:
		return pick(s, c.sign.glyphs())
	case c.kind == cellLeading && s.Color:
		return ' '
	}
	return pick(s, [...]string{"  ", "-─", "+┬", "-─", ":┄", "#█", ".▪"}[c.kind])
}

// glyphs are a sign in ASCII and in Unicode.
func (s Sign) glyphs() string { return [...]string{"X✗", "S║", "C►", "T▽", "!!"}[s] }

func pick(s Style, glyphs string) rune {
	r := []rune(glyphs)
	if s.Unicode {
		return r[1]
	}
	return r[0]
}

// escape is the ANSI sequence of a cell's looks, or "" for plain.
func (c cell) escape() string {
	const dim, loud, quiet = "2", "1;31", "32"
	switch c.kind {
	case cellLeading:
		return fmt.Sprintf("30;%d", barColors[uint(c.color)%uint(len(barColors))])
	case cellMark:
		if c.sign == Continued {
			return quiet
		}
		return loud
	case cellWaiting, cellFrozen, cellRuler, cellNotch:
		return dim
	}
	return ""
}

// barColors are backgrounds on which black text can be read, by dark and by light
// themes alike: cyan, yellow, magenta, green, bright blue.
var barColors = [...]int{46, 43, 45, 42, 104}

// paint makes text of the line. Cells that look alike share one escape sequence.
func (l line) paint(s Style) string {
	var b strings.Builder
	last := ""
	for _, c := range l {
		look := ""
		if s.Color {
			look = c.escape()
		}
		if look != last {
			b.WriteString("\x1b[0m")
			if look != "" {
				b.WriteString("\x1b[" + look + "m")
			}
			last = look
		}
		b.WriteRune(c.glyph(s))
	}
	if last != "" {
		b.WriteString("\x1b[0m")
	}
	return strings.TrimRight(b.String(), " ")
}
