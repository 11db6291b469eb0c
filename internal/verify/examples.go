package verify

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Examples checks that Go code in Markdown is code that compiles and is tested:
// each block fenced as "go" has to be the body of a function, which a comment in
// the last line of text before it names, with the file relative to the root:
//
//	<!-- example: core/example_test.go ExampleConfig_TryAcquire -->
//
// The function's comment about its output is left out. A block that begins with
// "func" is the whole function without its comment. One that is a program (it begins
// with "package") has that body as its main, and imports only what the file does.
func Examples(root string) ([]Problem, error) {
	var problems []Problem
	err := TextFiles(root, func(name string, text []byte) error {
		if path.Ext(name) != ".md" || strings.Contains("/"+name, "/testdata/") {
			return nil
		}
		for _, b := range goBlocks(string(text)) {
			if message := b.faultIn(root); message != "" {
				problems = append(problems, Problem{name, b.line, message})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sorted(problems), nil
}

var (
	exampleMark = regexp.MustCompile(`^<!-- example: (\S+) (\w+) -->$`)
	goFence     = regexp.MustCompile("^(```+|~~~+)go\\s*$")
	outputMark  = regexp.MustCompile(`(?im)^[ \t]*//[ \t]*(unordered )?output:`)
)

// goBlock is a block of Go code in a Markdown file.
type goBlock struct {
	line       int    // of its fence
	code       string // without the fences
	file, name string // the example that the text before it names; "" if none
}

func goBlocks(text string) []goBlock {
	var blocks []goBlock
	var mark []string // of the last line of text
	inFence := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case inFence == "go":
			b := &blocks[len(blocks)-1]
			if fence.MatchString(line) {
				inFence = ""
				continue
			}
			b.code += line + "\n"
		case inFence != "":
			if m := fence.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[1], inFence) {
				inFence = ""
			}
		case goFence.MatchString(line):
			inFence = "go"
			b := goBlock{line: i + 1}
			if mark != nil {
				b.file, b.name = mark[1], mark[2]
			}
			blocks, mark = append(blocks, b), nil
		case fence.MatchString(line):
			inFence, mark = fence.FindStringSubmatch(line)[1], nil
		case strings.TrimSpace(line) != "":
			mark = exampleMark.FindStringSubmatch(line)
		}
	}
	return blocks
}

// faultIn says what is wrong with a block; "" if nothing is.
func (b goBlock) faultIn(root string) string {
	if b.name == "" {
		return "Go code that nobody compiles: make it the body of a tested example, and name that in the line before: <!-- example: core/example_test.go Example -->"
	}
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.file)))
	if err != nil {
		return fmt.Sprintf("the example's file %s cannot be read: %v", b.file, err)
	}
	ex, err := findFunction(string(source), b.name)
	if err != nil {
		return fmt.Sprintf("the example's file %s: %v", b.file, err)
	}
	got, want := normal(b.code), ex.body
	switch {
	case strings.HasPrefix(got, "func "):
		want = ex.whole
	case strings.HasPrefix(got, "package "):
		program, err := findFunction(got, "main")
		if err != nil {
			return fmt.Sprintf("the program cannot be read: %v", err)
		}
		for _, p := range program.imports {
			if !slices.Contains(ex.imports, p) {
				return fmt.Sprintf("the program imports %s, which %s does not: it would not compile, or is not what is tested", p, b.file)
			}
		}
		got = program.body
	}
	if got != want {
		return fmt.Sprintf("differs from %s in %s, first in %q: copy the one that is right", b.name, b.file, firstDifference(got, want))
	}
	return ""
}

// function is one function of a Go file.
type function struct {
	whole, body string   // normal; the body without its comment about the output
	imports     []string // of the file, quoted
}

func findFunction(source, name string) (function, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
	if err != nil {
		return function{}, err
	}
	text := func(from, to token.Pos) string {
		return source[fset.Position(from).Offset:fset.Position(to).Offset]
	}
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != name || fn.Body == nil {
			continue
		}
		body := text(fn.Body.Lbrace+1, fn.Body.Rbrace)
		if at := outputMark.FindStringIndex(body); at != nil {
			body = body[:at[0]]
		}
		found := function{whole: normal(text(fn.Pos(), fn.End())), body: normal(body)}
		for _, spec := range f.Imports {
			found.imports = append(found.imports, spec.Path.Value)
		}
		return found, nil
	}
	return function{}, fmt.Errorf("there is no function %s", name)
}

// normal is code without the indentation of its first line, blank lines around
// it, and white space at the ends of lines.
func normal(code string) string {
	lines := strings.Split(strings.Trim(code, "\n"), "\n")
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], "\t"))]
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(l, indent), " \t\r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// firstDifference is the first line of got that is not the same in want.
func firstDifference(got, want string) string {
	wanted := strings.Split(want, "\n")
	for i, l := range strings.Split(got, "\n") {
		if i >= len(wanted) || l != wanted[i] {
			return strings.TrimSpace(l)
		}
	}
	return "its end"
}
