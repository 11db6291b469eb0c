package verify

import "testing"

func TestTests(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string // of docs/A.md
		want []string
	}{
		{"in backquotes", "see `TestOne`, `TestOne/a case`, `FuzzTwo`, `BenchmarkThree` and `TestPitfall_Four`", nil},
		{"not there", "one\nand `TestNone`", []string{"docs/A.md:2: there is no test TestNone; correct the name"}},
		{"a subtest of none", "`TestNone/a case`", []string{"docs/A.md:1: there is no test TestNone;"}},
		{"none of the other kinds", "`FuzzNone` `BenchmarkNone` `TestPitfall_None`", []string{
			"docs/A.md:1: no test FuzzNone", "docs/A.md:1: no test BenchmarkNone", "docs/A.md:1: no test TestPitfall_None"}},
		{"a link to the file", "[TestOne](../core/one_test.go) [`FuzzTwo/x`](../core/one_test.go#L3)", nil},
		{"a link to the folder", "[TestOne](../core) [BenchmarkThree](../core/)", nil},
		{"a link to another file", "[TestOne](../core/sub/four_test.go)", []string{"docs/A.md:1: there is no TestOne in core/sub/four_test.go; it is in core/one_test.go"}},
		{"a link to what is no test", "[`TestOne`](../core/doc.go)", []string{"docs/A.md:1: there is no TestOne in core/doc.go"}},
		{"a link, and not there at all", "[TestNone](../core/one_test.go)", []string{"docs/A.md:1: nor elsewhere"}},
		{"somebody else's", "[TestNone](https://example.com/x_test.go)", nil},
		{"text is no name", "TestNone, [what TestNone says](../core/doc.go), `go test -run TestNone`, `Test`, `Testing`, `Tester/x`, `test`", nil},
		{"only what go test runs", "`TestMethod` `TestHelperInCode` `TestInTestdata` `TestInString`", []string{
			"docs/A.md:1: TestMethod", "docs/A.md:1: TestHelperInCode", "docs/A.md:1: TestInTestdata", "docs/A.md:1: TestInString"}},
		{"in a code block", "```\n`TestNone`\n```\n<!-- `TestNone` -->\n`TestNone`", []string{"docs/A.md:5: TestNone"}},
		{"in broken code", "`TestBeforeTheFault` `TestNone`", []string{"docs/A.md:1: TestNone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems, err := Tests(tree(t, map[string]string{
				"README.md":                  "`TestOne`\n",
				"core/doc.go":                "package core\n\nfunc TestHelperInCode() {}\n",
				"core/one_test.go":           "package core\n\nfunc TestOne(t *testing.T) {}\nfunc FuzzTwo(f *testing.F) {}\nfunc BenchmarkThree(b *testing.B) {}\nfunc (x) TestMethod(t *testing.T) {}\nvar s = `\nfunc TestInString(t *testing.T) {}`\n",
				"core/bad_test.go":           "package core\n\nfunc TestBeforeTheFault(t *testing.T) {}\n\nfunc (\n",
				"core/empty_test.go":         "",
				"core/sub/four_test.go":      "package sub\n\nfunc TestPitfall_Four(t *testing.T) {}\n",
				"core/testdata/none_test.go": "package x\n\nfunc TestInTestdata(t *testing.T) {}\n",
				"docs/A.md":                  tt.text,
				"core/README.md":             "`TestNone`\n", // not a page of ours
			}))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, problems, tt.want)
		})
	}
}

func TestTestsOfTheFrontPage(t *testing.T) {
	problems, err := Tests(tree(t, map[string]string{"README.md": "\n`TestNone`\n", "core/doc.go": "package core\n"}))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, problems, []string{"README.md:2: there is no test TestNone"})
}
