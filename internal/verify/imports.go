package verify

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Imports checks that every package below root imports only what its layer
// allows. Test files are free; files for other platforms are not. A folder that
// the table does not know is a problem too: somebody has to decide what it may use.
func Imports(root string) ([]Problem, error) {
	module, err := ModulePath(root)
	if err != nil {
		return nil, err
	}
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	var problems []Problem
	deciders := map[string]string{} // program below functions/cmd -> the decider it was first seen to import
	for _, name := range files {
		found, err := importsOf(root, name)
		if err != nil {
			return nil, err
		}
		dir := path.Dir(name)
		l, ok := layerOf(dir)
		if !ok {
			problems = append(problems, Problem{name, 1, fmt.Sprintf("folder %s is not in the import table: say in internal/verify/layers.go what it may import", dir)})
			continue
		}
		for _, imp := range found {
			if l.oneDecider && onlyDecider(deciders, dir, module, imp.path) || l.allows(module, imp.path) {
				continue
			}
			problems = append(problems, Problem{name, imp.line, fmt.Sprintf("%s must not import %q: %s", dir, imp.path, l.says)})
		}
	}
	return sorted(problems), nil
}

// allows reports whether l permits the import. A path without a dot in its first
// element is the standard library's, except for cgo's "C".
func (l layer) allows(module, imported string) bool {
	if folder, ok := folderOf(module, imported); ok {
		return permits(l.ours, folder)
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") && imported != "C" {
		return true
	}
	return permits(l.others, imported)
}

func permits(list []string, imported string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return p == anything || under(imported, p) })
}

// onlyDecider reports whether imported is a decider, and the first or only one
// that this program imports.
func onlyDecider(seen map[string]string, dir, module, imported string) bool {
	folder, _ := folderOf(module, imported)
	decider, _, _ := strings.Cut(folder, "/")
	if !isDecider(decider) {
		return false
	}
	if seen[dir] == "" {
		seen[dir] = decider
	}
	return seen[dir] == decider
}

// folderOf returns the folder, relative to the root, of a package of this module.
func folderOf(module, imported string) (string, bool) {
	if !under(imported, module) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"), true
}

type importLine struct {
	path string
	line int
}

func importsOf(root, name string) ([]importLine, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("verify: read the imports: %w", err)
	}
	var out []importLine
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("verify: %s: import %s: %w", name, spec.Path.Value, err)
		}
		out = append(out, importLine{p, fset.Position(spec.Pos()).Line})
	}
	return out, nil
}
