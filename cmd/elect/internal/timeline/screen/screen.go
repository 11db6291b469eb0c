// Package screen finds out what standard output can show, and draws on it what
// changes in place.
package screen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline"
)

// Screen is a terminal, or something that only takes lines. Its methods may be
// called from any goroutine.
type Screen struct {
	terminal bool
	style    timeline.Style
	width    func() int

	mu    sync.Mutex
	w     io.Writer
	drawn []byte // what Redraw has drawn and may replace
}

// plainWidth is used where nobody says how wide the screen is.
const plainWidth = 80

// New looks at w and at the environment. What is not a terminal gets ASCII
// without colours, 80 columns wide.
func New(w io.Writer, getenv func(string) string) *Screen {
	s := &Screen{w: w, width: func() int { return plainWidth }}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || getenv("TERM") == "dumb" {
		return s
	}
	s.terminal = true
	s.style.Unicode = isUTF8(getenv)
	s.style.Color = getenv("NO_COLOR") == ""
	s.width = func() int {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
		return plainWidth
	}
	return s
}

// isUTF8 reads the locale as the C library does.
func isUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(getenv(name)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}

// Terminal tells whether somebody watches, so that redrawing makes sense.
func (s *Screen) Terminal() bool { return s.terminal }

// Style is how to draw now: a terminal's width can change. The last column
// stays free, for some terminals break the line there.
func (s *Screen) Style() timeline.Style {
	st := s.style
	st.Width = s.width()
	if s.terminal {
		st.Width--
	}
	return st
}

// Print writes text, which ends with "\n", above what Redraw has drawn.
func (s *Screen) Print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	drawn := s.drawn
	s.replace([]byte(text))
	s.drawn = nil
	if len(drawn) > 0 {
		s.replace(drawn)
	}
}

// Redraw draws text in place of what it drew last. On what is not a terminal it
// does nothing. Its lines must fit the width.
func (s *Screen) Redraw(text string) {
	if !s.terminal {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := []byte(text); !bytes.Equal(b, s.drawn) {
		s.replace(b)
	}
}

// Keep lets what was drawn stand: the next output comes below it.
func (s *Screen) Keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn = nil
}

// replace draws text over what was drawn. Everything goes out in one piece and
// nothing is blanked first, so that it does not flicker.
func (s *Screen) replace(text []byte) {
	if !s.terminal {
		s.w.Write(text)
		return
	}
	var b bytes.Buffer
	if n := bytes.Count(s.drawn, []byte("\n")); n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", n)
	}
	b.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\x1b[K\n")))
	b.WriteString("\x1b[J")
	s.w.Write(b.Bytes())
	s.drawn = text
}
