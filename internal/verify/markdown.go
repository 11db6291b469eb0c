package verify

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// link is a link found in a Markdown file.
type link struct {
	target string
	line   int
}

// page is what the link check needs to know of a Markdown file.
type page struct {
	links   []link
	anchors map[string]bool
}

var (
	fence      = regexp.MustCompile("^[ \t]*(```+|~~~+)")
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)
	codeSpan   = regexp.MustCompile("``[^`]+``|`[^`]*`")
	heading    = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	underline  = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	inlineLink = regexp.MustCompile(`\]\([ \t]*(<[^>]*>|(?:[^()\s]|\([^()\s]*\))*)(?:[ \t]+(?:"[^"]*"|'[^']*'))?[ \t]*\)`)
	reference  = regexp.MustCompile(`^ {0,3}\[[^\]^][^\]]*\]:[ \t]*(<[^>]*>|\S+)`)
	htmlLink   = regexp.MustCompile(`(?i)<(?:a|img)\b[^>]*\b(?:href|src)="([^"]*)"`)
	htmlAnchor = regexp.MustCompile(`(?i)<[a-z][a-z0-9]*\b[^>]*\b(?:id|name)="([^"]*)"`)
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	htmlTag    = regexp.MustCompile(`</?[A-Za-z][^>]*>`)
	emphasis   = regexp.MustCompile(`(^|[^\p{L}\p{N}_])_([^_]+)_($|[^\p{L}\p{N}_])`)
)

// parsePage reads the links and the anchors of a Markdown text: what stands in code
// or in a comment is neither. It knows as much of Markdown as documentation uses,
// with two limits: a link has to stand on one line, and code blocks have fences.
func parsePage(text string) page {
	p := page{anchors: map[string]bool{}}
	previous := ""
	proseLines(text, func(number int, line string) {
		if m := heading.FindStringSubmatch(line); m != nil {
			p.addHeading(m[1])
		} else if underline.MatchString(line) && strings.TrimSpace(previous) != "" {
			p.addHeading(previous)
		}
		previous = line
		p.addLinks(codeSpan.ReplaceAllString(line, ""), number)
	})
	return p
}

// proseLines calls visit for each line of a Markdown text and its number, counted
// from 1. Comments are cut out; a code block is one empty line.
func proseLines(text string, visit func(number int, line string)) {
	text = comment.ReplaceAllStringFunc(text, func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n")) // line numbers stay right
	})
	inFence := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		m := fence.FindStringSubmatch(line)
		switch {
		case inFence != "":
			if m != nil && strings.HasPrefix(m[1], inFence) {
				inFence = ""
			}
		case m != nil:
			inFence = m[1]
			visit(i+1, "")
		default:
			visit(i+1, line)
		}
	}
}

func (p *page) addLinks(line string, number int) {
	for _, pattern := range []*regexp.Regexp{inlineLink, reference, htmlLink} {
		for _, m := range pattern.FindAllStringSubmatch(line, -1) {
			p.links = append(p.links, link{strings.Trim(m[1], "<>"), number})
		}
	}
	for _, m := range htmlAnchor.FindAllStringSubmatch(line, -1) {
		p.anchors[m[1]] = true
	}
}

// addHeading adds the anchor that GitHub gives to a heading; further headings with
// the same text get -1, -2 and so on.
func (p *page) addHeading(text string) {
	base := anchorOf(text)
	name := base
	for n := 1; p.anchors[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	p.anchors[name] = true
}

// anchorOf follows GitHub: the rendered text in lower case, spaces as hyphens,
// and of the rest only letters, marks, digits, hyphens and underscores.
func anchorOf(text string) string {
	text = linkText.ReplaceAllString(text, "$1")
	text = htmlTag.ReplaceAllString(text, "")
	if !strings.Contains(text, "`") { // underscores in code are no emphasis
		text = emphasis.ReplaceAllString(text, "$1$2$3")
	}
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(text)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.Pc):
			b.WriteRune(r)
		}
	}
	return b.String()
}
