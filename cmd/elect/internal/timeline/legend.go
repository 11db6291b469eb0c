package timeline

import "strings"

// Words say what spans and signs mean in this chart, where the usual words do not.
type Words struct {
	Kinds map[Kind]string
	Signs map[Sign]string
}

// Legend explains every span and mark that the chart shows, and no other, in
// lines of at most the given width.
func (c Chart) Legend(s Style, words Words) string {
	var kinds [3]bool
	var signs [5]bool
	for _, r := range c.Rows {
		for _, span := range r.Spans {
			kinds[span.Kind] = true
		}
		for _, m := range r.Marks {
			signs[m.Sign] = true
		}
	}
	var items []item
	for k, meaning := range [...]string{Waiting: "waiting", Frozen: "frozen", Leading: "leading"} {
		if word, ok := words.Kinds[Kind(k)]; ok {
			meaning = word
		}
		if kinds[k] {
			one := cell{kind: Kind(k).cell()}
			items = append(items, item{line{one, one}, meaning})
		}
	}
	for sign, meaning := range [...]string{"killed", "stopped", "continued", "asked to stop", "refused"} {
		if word, ok := words.Signs[Sign(sign)]; ok {
			meaning = word
		}
		if signs[sign] {
			items = append(items, item{line{{kind: cellMark, sign: Sign(sign)}}, meaning})
		}
	}
	return wrap(items, s)
}

// item is a sample and what it means.
type item struct {
	sample  line
	meaning string
}

func wrap(items []item, s Style) string {
	var b strings.Builder
	at := 0
	for _, it := range items {
		width := len(it.sample) + 1 + columns(it.meaning)
		switch {
		case at == 0:
		case at+3+width > max(s.Width, MinWidth):
			b.WriteString("\n")
			at = 0
		default:
			b.WriteString("   ")
			at += 3
		}
		b.WriteString(it.sample.paint(s))
		b.WriteString(" " + it.meaning)
		at += width
	}
	if at > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
