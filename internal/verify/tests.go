package verify

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	// A link whose text is one word, and a code span that is no such text.
	namedLink = regexp.MustCompile("\\[`?([^\\]\\[`\\s]+)`?\\]\\(([^()\\s]*)\\)")
	namedCode = regexp.MustCompile("`([^`]+)`")
	// What go test runs: a lower-case letter after the first word makes another word of it.
	testName = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[\p{Lu}\p{N}_][\p{L}\p{N}_]*$`)
)

// Tests checks the names of tests, fuzz tests and benchmarks that README.md and the
// pages in docs give in code or as the text of a link: there is such a test, and where
// the link leads to a file or a folder of this tree, it is in there. What follows a
// slash names a subtest and is not looked for. Without this a table of what is tested
// says so long after a test was renamed or removed.
func Tests(root string) ([]Problem, error) {
	files, err := testFiles(root)
	if err != nil {
		return nil, err
	}
	var problems []Problem
	err = TextFiles(root, func(name string, text []byte) error {
		if name == "README.md" || path.Dir(name) == "docs" && path.Ext(name) == ".md" {
			proseLines(string(text), func(number int, line string) {
				for _, message := range missingTests(files, name, line) {
					problems = append(problems, Problem{name, number, message})
				}
			})
		}
		return nil
	})
	return sorted(problems), err
}

// missingTests says which of the tests that a line of the page names are not there.
func missingTests(files map[string]map[string]bool, page, line string) []string {
	var messages []string
	for _, m := range namedLink.FindAllStringSubmatch(line, -1) {
		where, _, _ := strings.Cut(m[2], "#")
		if strings.Contains(where, ":") { // another place's tests are not ours to know
			continue
		}
		where = path.Join(path.Dir(page), where)
		if test := nameOf(m[1]); test != "" && !hasTest(files, where, test) {
			messages = append(messages, fmt.Sprintf("there is no %s in %s%s", test, where, elsewhere(files, test)))
		}
	}
	for _, m := range namedCode.FindAllStringSubmatch(namedLink.ReplaceAllString(line, ""), -1) {
		if test := nameOf(m[1]); test != "" && !hasTest(files, ".", test) {
			messages = append(messages, fmt.Sprintf("there is no test %s; correct the name, or write the test", test))
		}
	}
	return messages
}

// nameOf returns the test that a text names, without its subtest; "" for other texts.
func nameOf(text string) string {
	test, _, _ := strings.Cut(text, "/")
	if !testName.MatchString(test) {
		return ""
	}
	return test
}

// hasTest reports whether the test is in the file, or below the folder, called where.
func hasTest(files map[string]map[string]bool, where, test string) bool {
	for name, tests := range files {
		if tests[test] && (where == "." || under(name, where)) {
			return true
		}
	}
	return false
}

// elsewhere names the files that have the test.
func elsewhere(files map[string]map[string]bool, test string) string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name][test] {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ", nor elsewhere; correct the name, or write the test"
	}
	return "; it is in " + strings.Join(found, ", ")
}

// testFiles returns the names of the tests in each test file below root. Of a file
// that does not compile it knows what the parser could make out.
func testFiles(root string) (map[string]map[string]bool, error) {
	if _, err := goFiles(root); err != nil { // no packages at all: nothing would be checked
		return nil, err
	}
	files := map[string]map[string]bool{}
	err := walk(root, func(name string) bool {
		base := path.Base(name)
		return base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_'
	}, func(name string) error {
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		files[name] = map[string]bool{}
		file, _ := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if file == nil {
			return nil
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && testName.MatchString(f.Name.Name) {
				files[name][f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("verify: list the tests below %s: %w", root, err)
	}
	return files, nil
}
