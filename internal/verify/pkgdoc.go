package verify

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
)

// PackageComments checks that every package has a package comment in exactly one
// of its files, and that a library's begins as godoc expects it: "Package name".
// Two comments would be printed one after the other, in the order of file names.
func PackageComments(root string) ([]Problem, error) {
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	var problems []Problem
	type pkg struct{ dir, name string }
	first := map[pkg]string{}     // the first file of a package
	commented := map[pkg]string{} // the file with its comment
	var order []pkg
	for _, name := range files {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("verify: read the package comment: %w", err)
		}
		p := pkg{path.Dir(name), f.Name.Name}
		if first[p] == "" {
			first[p] = name
			order = append(order, p)
		}
		text := f.Doc.Text() // without directives
		if text == "" {
			continue
		}
		line := fset.Position(f.Doc.Pos()).Line
		switch {
		case commented[p] != "":
			problems = append(problems, Problem{name, line, fmt.Sprintf("second package comment of %s: %s has one already; keep one", p.name, commented[p])})
		case p.name != "main" && !strings.HasPrefix(text, "Package "+p.name+" ") && !strings.HasPrefix(text, "Package "+p.name+"\n"):
			problems = append(problems, Problem{name, line, fmt.Sprintf("the package comment has to begin with \"Package %s\"", p.name)})
		}
		if commented[p] == "" {
			commented[p] = name
		}
	}
	for _, p := range order {
		if commented[p] == "" {
			problems = append(problems, Problem{first[p], 1, fmt.Sprintf("package %s has no package comment: say in doc.go, or in its main file, what it is for", p.name)})
		}
	}
	return sorted(problems), nil
}
