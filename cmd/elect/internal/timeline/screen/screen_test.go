package screen

import (
	"bytes"
	"testing"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestWhatIsNoTerminalGetsPlainLines(t *testing.T) {
	var out bytes.Buffer
	s := New(&out, env(map[string]string{"LANG": "C.UTF-8"}))
	if s.Terminal() || s.Style().Unicode || s.Style().Color || s.Style().Width != 80 {
		t.Errorf("a buffer is taken for a terminal: %+v", s.Style())
	}
	s.Redraw("never seen\n")
	s.Print("line\n")
	if out.String() != "line\n" {
		t.Errorf("written: %q", &out)
	}
}

func TestRedrawingInPlace(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{terminal: true, w: &out, width: func() int { return 100 }}
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"the first time", func() { s.Redraw("a\nb\n") }, "a\x1b[K\nb\x1b[K\n\x1b[J"},
		{"the same again", func() { s.Redraw("a\nb\n") }, ""},
		{"over two lines", func() { s.Redraw("c\n") }, "\x1b[2A\rc\x1b[K\n\x1b[J"},
		{"a line above", func() { s.Print("x\n") }, "\x1b[1A\rx\x1b[K\n\x1b[Jc\x1b[K\n\x1b[J"},
		{"kept", func() { s.Keep(); s.Redraw("d\n") }, "d\x1b[K\n\x1b[J"},
	} {
		out.Reset()
		step.do()
		if out.String() != step.want {
			t.Errorf("%s: written %q, want %q", step.name, &out, step.want)
		}
	}
	if s.Style().Width != 99 {
		t.Errorf("width %d, want one column free", s.Style().Width)
	}
}

func TestLocale(t *testing.T) {
	for _, c := range []struct {
		vars map[string]string
		want bool
	}{
		{nil, false},
		{map[string]string{"LANG": "C"}, false},
		{map[string]string{"LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LANG": "de_DE.utf8"}, true},
		{map[string]string{"LANG": "C.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, true},
	} {
		if got := isUTF8(env(c.vars)); got != c.want {
			t.Errorf("isUTF8 with %v = %v, want %v", c.vars, got, c.want)
		}
	}
}
