package timeline

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
)

const pageStyle = `:root{color-scheme:light dark}
body{margin:0;padding:16px;background:#fff;color:#1f2328;font:14px/1.5 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
main{max-width:1400px;margin:0 auto}
.picture{overflow-x:auto}.picture svg{display:block;width:100%;min-width:760px;height:auto}
summary{cursor:pointer;margin:16px 0 8px}
.table{overflow-x:auto}table{border-collapse:collapse}
th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid #e1e4e8;vertical-align:top;white-space:nowrap}
td:nth-child(2),td:nth-child(6){white-space:pre-wrap;overflow-wrap:anywhere}
td:nth-child(2){min-width:10em}td:nth-child(6){min-width:30em}
td{font-variant-numeric:tabular-nums}
details{margin:0 16px}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,td{border-color:#262c36}}
`

// maxListed is how many reigns the table below the picture has.
const maxListed = 1000

// WriteHTML writes the chart as a page: the picture and a table of the reigns. It
// asks for nothing over the network and runs no script. Its errors are WriteSVG's.
func (c *Chart) WriteHTML(w io.Writer) error {
	picture, err := c.picture()
	if err != nil {
		return err
	}
	l := c.layout()
	p := &canvas{}
	p.WriteString("<!DOCTYPE html>\n")
	p.open("html", "lang", "en", "data-made-by", madeBy)
	p.WriteString("\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	p.WriteString("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
	p.element("title", isolated(l.title()))
	p.WriteString("<style>" + pageStyle + "</style>\n</head>\n<body>\n<main>\n<div class=\"picture\">\n")
	p.Write(picture)
	p.WriteString("</div>\n")
	l.table(p)
	p.WriteString("</main>\n</body>\n</html>\n")
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("timeline: write the page: %w", err)
	}
	return nil
}

// table is the reigns, in the order in which they began.
func (l *layout) table(p *canvas) {
	type line struct {
		name string
		bar
	}
	var all []line
	for _, r := range l.Chart.Rows {
		for _, g := range r.Reigns {
			if piece, ok := l.place(g.Span); ok {
				all = append(all, line{isolated(named(r.Name)), bar{piece: piece, Reign: g, count: 1}})
			}
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.Token, b.Token))
	})
	p.WriteString("<details>\n")
	p.element("summary", "The same as a table: "+counted(len(all), "reign", "reigns"))
	p.WriteString("<div class=\"table\"><table>\n<thead><tr><th>fencing token</th><th>leader</th><th>from</th><th>to</th><th>won by</th><th>end</th></tr></thead>\n<tbody>\n")
	for _, g := range all[:min(len(all), maxListed)] {
		to, proof := l.when(g.Reign.To), proofNames[g.Proof].name
		if g.Open {
			to = ""
		}
		p.WriteString("<tr>")
		for _, text := range [...]string{fmt.Sprint(g.Token), g.name, l.when(g.from), to, proof, l.ending(g.bar)} {
			p.open("td")
			p.WriteString(escaper.Replace(text))
			p.WriteString("</td>")
		}
		p.WriteString("</tr>\n")
	}
	p.WriteString("</tbody></table></div>\n")
	if n := len(all) - maxListed; n > 0 {
		p.element("p", fmt.Sprintf("and %d more", n))
	}
	p.WriteString("</details>\n")
}

// IsPicture tells whether a file begins as those that this package writes do, so
// that a program may replace it; head should have its first 4 KiB.
func IsPicture(head []byte) bool {
	start := bytes.TrimSpace(head)
	return (bytes.HasPrefix(start, []byte("<svg ")) || bytes.HasPrefix(start, []byte("<!DOCTYPE html>"))) &&
		bytes.Contains(head, []byte(`data-made-by="`+madeBy+`"`))
}
