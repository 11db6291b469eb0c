package timeline

import (
	"bytes"
	"strconv"
	"strings"
)

// canvas writes XML. Whatever it is given, it writes as text or as the value of
// an attribute, so nothing can become markup.
type canvas struct {
	bytes.Buffer
	used map[string]bool // the shapes and patterns that were drawn
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func (c *canvas) tag(name, end string, attrs []any) {
	c.WriteString("<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		c.WriteString(" " + attrs[i].(string) + `="`)
		switch v := attrs[i+1].(type) {
		case string:
			c.WriteString(escaper.Replace(v))
		case float64:
			c.WriteString(pixels(v))
		case int:
			c.WriteString(strconv.Itoa(v))
		}
		c.WriteByte('"')
	}
	c.WriteString(end)
}

// open begins an element: names and values of attributes in turn.
func (c *canvas) open(name string, attrs ...any) { c.tag(name, ">", attrs) }

func (c *canvas) close(name string) { c.WriteString("</" + name + ">\n") }

// empty is an element without content.
func (c *canvas) empty(name string, attrs ...any) { c.tag(name, "/>\n", attrs) }

// element is an element with a text in it.
func (c *canvas) element(name, text string, attrs ...any) {
	c.open(name, attrs...)
	c.WriteString(escaper.Replace(text))
	c.close(name)
}

// hint is an element that says what it is when it is pointed at.
func (c *canvas) hint(hint, name string, attrs ...any) {
	c.open(name, attrs...)
	c.WriteString("<title>" + escaper.Replace(hint) + "</title>")
	c.close(name)
}

// glyph draws a shape around a point.
func (c *canvas) glyph(id, hint string, x, y float64) {
	c.used[id] = true
	if hint == "" {
		c.empty("use", "href", "#"+id, "x", x, "y", y)
		return
	}
	c.open("g")
	c.WriteString("<title>" + escaper.Replace(hint) + "</title>")
	c.tag("use", "/>", []any{"href", "#" + id, "x", x, "y", y})
	c.close("g")
}

// text writes a label.
func (c *canvas) text(class, text string, x, y float64, attrs ...any) {
	c.element("text", text, append([]any{"class", class, "x", x, "y", y}, attrs...)...)
}

// pixels is a coordinate to a tenth.
func pixels(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0")
}
