package timeline

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many runes of a foreign text anybody is shown.
const longest = 1000

// clean makes foreign text harmless: one line, nothing that XML cannot hold or
// that turns the direction of what follows.
func clean(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > longest {
			b.WriteString("…")
			break
		}
		switch {
		case r < 0x20: // its picture
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune(0x2421)
		case r == utf8.RuneError, r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef,
			unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// foreign is a clean text that stands among words of this package's.
func foreign(text string) string { return isolated(clean(text)) }

// named is a clean text that has to be seen: one of blanks and invisible characters
// only, or with blanks at an end, is quoted.
func named(text string) string {
	text = clean(text)
	visible := func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) && !filler(r)
	}
	switch {
	case strings.IndexFunc(text, visible) < 0:
		return strconv.QuoteToASCII(text)
	case strings.TrimSpace(text) != text:
		return `"` + text + `"`
	}
	return text
}

// filler tells whether r is a letter or a symbol that nobody sees.
func filler(r rune) bool {
	return r == 0x115f || r == 0x1160 || r == 0x2800 || r == 0x3164 || r == 0xffa0
}

// rightToLeft tells whether a part of text is written from right to left.
func rightToLeft(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff ||
			r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
	})
}

// isolated keeps a text that is written from right to left from turning what stands
// beside it: it goes between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE.
func isolated(text string) string {
	if !rightToLeft(text) {
		return text
	}
	return "\u2068" + text + "\u2069"
}

// measure is how wide text is at most, in pixels at this size, in any font that
// browsers use where none is named: nobody knows which one the reader has.
func measure(text string, size float64) float64 {
	w := 0.0
	for _, r := range text {
		w += advance(r)
	}
	return w * size
}

// advance is the width of a character in ems.
func advance(r rune) float64 {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Bidi_Control):
		return 0
	case strings.ContainsRune("fijlrt|!.,:;'` ()[]-/\\·", r):
		return 0.42
	case strings.ContainsRune("mwMWQO@%", r), r == '…':
		return 1
	case r >= 'A' && r <= 'Z', strings.ContainsRune("&#+=<>~^_", r):
		return 0.84
	case r < 0x500:
		return 0.64
	}
	return 1.4 // emoji are the widest
}

// shorten cuts text in the middle so that it fits: names often differ at their ends.
// What is written from right to left is cut at its end, for there the middle of the
// text need not be in the middle of the line.
func shorten(text string, size, room float64) string {
	if measure(text, size) <= room {
		return text
	}
	runes := []rune(text)
	head, tail := 0, len(runes)
	used := measure("…", size)
	ends := rightToLeft(text)
	for head < tail { // from both ends in turn
		next := size * advance(runes[head])
		if used += next; used > room {
			break
		}
		head++
		if head == tail {
			break
		}
		if ends {
			continue
		}
		if used += size * advance(runes[tail-1]); used > room {
			break
		}
		tail--
	}
	if ends {
		tail = len(runes)
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}

// counted is a number of things.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
