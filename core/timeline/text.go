package timeline

import (
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
	case unicode.In(r, unicode.Mn, unicode.Me):
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
func shorten(text string, size, room float64) string {
	if measure(text, size) <= room {
		return text
	}
	runes := []rune(text)
	head, tail := 0, len(runes)
	used := measure("…", size)
	for head < tail { // from both ends in turn
		next := size * advance(runes[head])
		if used += next; used > room {
			break
		}
		head++
		if head == tail {
			break
		}
		if used += size * advance(runes[tail-1]); used > room {
			break
		}
		tail--
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}
