package cliutil

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Line is err on one line, however many there were. What a store or another
// candidate has written is in there: nothing of it moves the cursor, or hides the rest.
func Line(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	var b strings.Builder
	for _, r := range strings.Join(lines, "; ") {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case Steers(r):
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Steers tells whether a terminal does anything else with r than show it: control
// characters, other ways to end a line, and what turns the direction of writing.
func Steers(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// longestName is how many runes of a name a message shows.
const longestName = 80

// Name is a candidate's name as messages show it: quoted, and cut off if it is long.
func Name(id string) string {
	runes := []rune(id)
	if len(runes) <= longestName {
		return strconv.Quote(id)
	}
	return fmt.Sprintf("%q...", string(runes[:longestName]))
}
