package verify

import "testing"

func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string // of docs/A.md
		want []string
	}{
		{"a file beside it", "see [B](B.md) and [code](../core/doc.go#L3) and [folder](../core/)", nil},
		{"a missing file", "one\ntwo [C](C.md)", []string{"docs/A.md:2: there is no docs/C.md"}},
		{"a missing picture", "![p](p.png \"title\")", []string{"docs/A.md:1: there is no docs/p.png"}},
		{"a badge inside a link", "[![b](no.svg)](B.md)", []string{"docs/A.md:1: there is no docs/no.svg"}},
		{"an anchor of its own", "# The one\n[up](#the-one)", nil},
		{"a missing anchor of its own", "# The one\n[up](#the-two)", []string{"docs/A.md:2: docs/A.md has no heading or anchor #the-two"}},
		{"an anchor elsewhere", "[b](B.md#what-gcs-says-429)", nil},
		{"a missing anchor elsewhere", "[b](B.md#what-gcs-says)", []string{"docs/A.md:1: docs/B.md has no heading"}},
		{"from the root", "[r](/README.md#cloud) [r](/docs/B.md) [no](/B.md)", []string{"docs/A.md:1: there is no B.md"}},
		{"a folder's anchor", "[r](..#cloud) [no](../core#cloud)", []string{"docs/A.md:1: there is no core/README.md to hold the anchor"}},
		{"out of the tree", "[i](../../issues)", []string{"docs/A.md:1: leaves the repository"}},
		{"a scheme is not followed", "[w](https://example.com/no) [m](mailto:a@example.com) <https://example.com>", nil},
		{"references", "[b][1] [c][2]\n\n[1]: B.md\n[2]: C.md \"C\"", []string{"docs/A.md:4: there is no docs/C.md"}},
		{"HTML", "<a id=\"here\"></a>[h](#here) <img width=\"3\" src=\"no.png\">", []string{"docs/A.md:1: there is no docs/no.png"}},
		{"code is no link", "```go\nx[0](no)\n```\nand `[a](no.md)`", nil},
		{"a fence in a fence", "````\n```\n[a](no.md)\n````\n[b](no.md)", []string{"docs/A.md:5: there is no docs/no.md"}},
		{"a comment is no link", "<!-- [a](no.md)\n-->\n[b](no.md)", []string{"docs/A.md:3: there is no docs/no.md"}},
		{"escapes and brackets", "[s](<a b.md>) [s](a%20b.md) [p](c_(d).md)", nil},
		{"empty", "[s]()", []string{"docs/A.md:1: link without a target"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems, err := Links(tree(t, map[string]string{
				"README.md":            "# Cloud\n",
				"core/doc.go":          "package core\n",
				"docs/A.md":            tt.text,
				"docs/B.md":            "## What GCS says: `429`\n",
				"docs/a b.md":          "",
				"docs/c_(d).md":        "",
				"core/testdata/bad.md": "[no](no.md)",
			}))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, problems, tt.want)
		})
	}
}

func TestAnchors(t *testing.T) {
	p := parsePage("# A\n## A\n### A #\n\nSet\n---\n\n```\n# Not this\n```\n- item\n---\n")
	for _, want := range []string{"a", "a-1", "a-2", "set"} {
		if !p.anchors[want] {
			t.Errorf("no anchor %q in %v", want, p.anchors)
		}
	}
	if p.anchors["not-this"] {
		t.Error("a line of code became an anchor")
	}
	for heading, want := range map[string]string{
		"4.1 Winning: no attempt without a proof": "41-winning-no-attempt-without-a-proof",
		"`elect break` & co.":                     "elect-break--co",
		"A [link](x.md) here":                     "a-link-here",
		"An _emphasised_ and a snake_case":        "an-emphasised-and-a-snake_case",
		"`_test.go` files":                        "_testgo-files",
		"Größe — wie?":                            "größe--wie",
		"**Bold** <b>tags</b>":                    "bold-tags",
	} {
		if got := anchorOf(heading); got != want {
			t.Errorf("anchor of %q is %q, want %q", heading, got, want)
		}
	}
}
