package verify

import "testing"

func TestExamples(t *testing.T) {
	const source = "package p_test\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n" +
		"func ExampleA() {\n\tif true {\n\t\tfmt.Println(1)\n\t}\n\t// Output: 1\n}\n\n" +
		"func ExampleB() {\n\tos.Exit(0)\n}\n"
	const (
		markA = "<!-- example: p/example_test.go ExampleA -->\n"
		markB = "<!-- example: p/example_test.go ExampleB -->\n"
		codeA = "if true {\n\tfmt.Println(1)\n}\n"
		fence = "```"
	)
	block := func(code string) string { return fence + "go\n" + code + fence + "\n" }
	program := func(imports, body string) string {
		return block("package main\n\nimport " + imports + "\n\nfunc main() {\n" + body + "}\n")
	}
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"the body of the example", markA + block(codeA), nil},
		{"a whole function", markB + block("func ExampleB() {\n\tos.Exit(0)\n}\n"), nil},
		{"a whole function that differs", markB + block("func ExampleB() {\n\tos.Exit(1)\n}\n"), []string{`docs/A.md:2: first in "os.Exit(1)"`}},
		{"a blank line between", markA + "\n" + block(codeA), nil},
		{"a program", markA + program(`"fmt"`, "\tif true {\n\t\tfmt.Println(1)\n\t}\n"), nil},
		{"other languages", fence + "sh\ngo test\n" + fence + "\n" + fence + "\nx := 1\n" + fence + "\n", nil},
		{"nobody named it", block(codeA), []string{"docs/A.md:1: Go code that nobody compiles"}},
		{"the name is too far away", markA + "words\n" + block(codeA), []string{"docs/A.md:3: Go code that nobody compiles"}},
		{"a name counts once", markA + block(codeA) + block(codeA), []string{"docs/A.md:7: Go code that nobody compiles"}},
		{"it differs", markA + block("if true {\n\tfmt.Println(2)\n}\n"), []string{"docs/A.md:2: first in \"fmt.Println(2)\""}},
		{"something is missing", markA + block("if true {\n"), []string{"docs/A.md:2: first in \"its end\""}},
		{"the indentation differs", markA + block("if true {\nfmt.Println(1)\n}\n"), []string{"docs/A.md:2: differs"}},
		{"another example", markA + block("os.Exit(0)\n"), []string{"docs/A.md:2: differs from ExampleA"}},
		{"a program that differs", markA + program(`"fmt"`, "\tfmt.Println(1)\n"), []string{"docs/A.md:2: differs"}},
		{"an import that is not tested", markA + program(`"log"`, "\tif true {\n\t\tfmt.Println(1)\n\t}\n"), []string{`docs/A.md:2: imports "log"`}},
		{"a program that is no Go", markA + block("package main\n\nfunc main() {\n"), []string{"docs/A.md:2: the program cannot be read"}},
		{"no such function", "<!-- example: p/example_test.go ExampleC -->\n" + block(codeA), []string{"docs/A.md:2: there is no function ExampleC"}},
		{"no such file", "<!-- example: q/example_test.go ExampleA -->\n" + block(codeA), []string{"docs/A.md:2: cannot be read"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems, err := Examples(tree(t, map[string]string{
				"p/example_test.go":  source,
				"docs/A.md":          tt.text,
				"docs/testdata/x.md": block("nobody cares"),
			}))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, problems, tt.want)
		})
	}
}
