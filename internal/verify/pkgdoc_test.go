package verify

import "testing"

func TestPackageComments(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"one comment", map[string]string{
			"core/doc.go": "// Package core elects.\npackage core\n",
			"core/x.go":   "package core\n",
		}, nil},
		{"none", map[string]string{
			"core/a.go": "package core\n",
			"core/b.go": "package core\n",
		}, []string{"core/a.go:1: has no package comment"}},
		{"two", map[string]string{
			"core/a.go": "// Package core elects.\npackage core\n",
			"core/b.go": "\n// Package core elects more.\npackage core\n",
		}, []string{"core/b.go:2: core/a.go has one already"}},
		{"a comment of something else", map[string]string{
			"core/a.go": "// Here is the code.\npackage core\n",
		}, []string{"core/a.go:1: begin with \"Package core\""}},
		{"a longer name", map[string]string{
			"core/a.go": "// Package corex elects.\npackage core\n",
		}, []string{"core/a.go:1: begin with \"Package core\""}},
		{"a blank line between", map[string]string{
			"core/a.go": "// Package core elects.\n\npackage core\n",
		}, []string{"core/a.go:1: has no package comment"}},
		{"only a directive", map[string]string{
			"core/a.go": "//go:generate true\npackage core\n",
		}, []string{"core/a.go:1: has no package comment"}},
		{"the test's comment is not the package's", map[string]string{
			"core/a.go":      "package core\n",
			"core/a_test.go": "// Package core elects.\npackage core\n",
		}, []string{"core/a.go:1: has no package comment"}},
		{"a program may begin as it likes", map[string]string{
			"cmd/elect/main.go": "// Elect works on elections.\npackage main\n",
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems, err := PackageComments(tree(t, tt.files))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, problems, tt.want)
		})
	}
}
