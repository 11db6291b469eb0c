package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The error texts that OPERATIONS.md explains are texts of this code: whoever meets one
// searches for it.
func TestErrorTextsExist(t *testing.T) {
	page, err := os.ReadFile("OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := quotedErrors(string(page))
	if len(texts) < 40 {
		t.Fatalf("found %d error texts, want the tables with a column %q", len(texts), "text")
	}
	code := literals(t)
	for _, text := range texts {
		for _, piece := range pieces(text) {
			if !occurs(code, piece) {
				t.Errorf("OPERATIONS.md explains the error\n  %s\nbut %q is in no string of the code", text, piece)
			}
		}
	}
}

// The test above finds what is not there.
func TestErrorTextsThatDoNotExist(t *testing.T) {
	texts := quotedErrors("| text | do |\n|---|---|\n| `core: nobody ever says \"this\" …`, `other` | `not this` |\n\n| `nor this` |\n")
	if len(texts) != 2 || texts[1] != "other" {
		t.Fatalf("found %q", texts)
	}
	made := "\nthe election is %s\nheld by %q\n"
	for piece, want := range map[string]bool{"election is": true, "the election is held by": true, "the election is held open": false, "is by": false} {
		if occurs(made, piece) != want {
			t.Errorf("%q occurs: %v, want %v", piece, !want, want)
		}
	}
	if got, want := strings.Join(pieces(texts[0]), "|"), "core|nobody ever says|this"; got != want {
		t.Errorf("pieces %s, want %s", got, want)
	}
}

var code = regexp.MustCompile("`[^`]+`")

// quotedErrors are the code spans in the first cells of all tables whose first column
// is called "text".
func quotedErrors(page string) []string {
	var texts []string
	inTable := false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "| text |"):
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable:
			cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			for _, span := range code.FindAllString(cell, -1) {
				texts = append(texts, strings.Trim(span, "`"))
			}
		}
	}
	return texts
}

// seams are where a text is put together: a value, a quoted one, a number, or what an
// error wraps.
var seams = regexp.MustCompile(`…|"|: |[0-9]+`)

func pieces(text string) []string {
	var found []string
	for _, piece := range seams.Split(text, -1) {
		if piece = strings.Trim(piece, " ,;:"); piece != "" {
			found = append(found, piece)
		}
	}
	return found
}

// occurs tells whether a piece is in a string, or in two of which one has a verb where
// the other begins, or ends.
func occurs(code, piece string) bool {
	if strings.Contains(code, piece) {
		return true
	}
	for i, r := range piece {
		first, second := piece[:i], piece[i:]
		if r == ',' && strings.Contains(code, first+"\n") && strings.Contains(code, "%w"+second) {
			return true
		}
		if r == ' ' && (strings.Contains(code, first+" %") || strings.Contains(code, first+"%")) && strings.Contains(code, "\n"+second[1:]) {
			return true
		}
	}
	return false
}

// literals are all strings of the code that is not a test, one per line and without
// the space around it; what is added up in the source is one.
func literals(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	var text func(e ast.Expr) string
	text = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
				return s
			}
		case *ast.BinaryExpr:
			if e.Op == token.ADD {
				return text(e.X) + text(e.Y)
			}
		}
		return "\n"
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				all.WriteString(strings.TrimSpace(text(e)) + "\n")
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
