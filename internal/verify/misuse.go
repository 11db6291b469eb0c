package verify

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
)

// goFile is what a rule may look at to tell whether it applies.
type goFile struct {
	name string // relative, with slashes
	pkg  string // name of its package
}

// misuses applies the rules for Go code to one file. Names are found by syntax, so
// that an alias of an import hides nothing and a mention in a comment is free; a
// function that is only passed on (now: time.Now) counts as used.
func misuses(root, name string) ([]Problem, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.Join(root, name), nil, 0)
	if err != nil {
		return nil, fmt.Errorf("verify: read the code: %w", err)
	}
	file := goFile{name, f.Name.Name}
	var problems []Problem
	report := func(at token.Pos, format string, args ...any) {
		problems = append(problems, Problem{name, fset.Position(at).Line, fmt.Sprintf(format, args...)})
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			report(fn.Pos(), "func init: nothing happens by being imported; call it where it is needed")
		}
	}
	for _, rule := range useRules() {
		if !rule.applies(file) {
			continue
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil || rule.uses[imported] == nil {
				continue
			}
			local := path.Base(imported)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			if local == "." {
				report(spec.Pos(), "import . %q hides what comes from it: %s", imported, rule.message)
				continue
			}
			for _, use := range usesOf(f, local, rule.uses[imported]) {
				report(use.Pos(), "%s.%s: %s", imported, use.Sel.Name, rule.message)
			}
		}
	}
	return problems, nil
}

// usesOf returns the mentions of local.X, for X in names, where local is the
// imported package and not a variable of that name.
func usesOf(f *ast.File, local string, names []string) []*ast.SelectorExpr {
	var found []*ast.SelectorExpr
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		// The parser resolves names within the file only, which is all that is needed:
		// Obj stays nil for the name of an import.
		if ok && id.Name == local && id.Obj == nil && slices.Contains(names, sel.Sel.Name) {
			found = append(found, sel)
		}
		return true
	})
	return found
}
