package verify

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Links checks the relative links of every Markdown file below root: the file has
// to exist inside the tree, and where it is Markdown, so has the anchor. Links to
// other places (with a scheme) are not followed: a check must not need the network.
func Links(root string) ([]Problem, error) {
	pages := map[string]page{}
	var order []string
	err := TextFiles(root, func(name string, text []byte) error {
		if path.Ext(name) == ".md" && !strings.Contains("/"+name, "/testdata/") {
			pages[name] = parsePage(string(text))
			order = append(order, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var problems []Problem
	for _, name := range order {
		for _, l := range pages[name].links {
			if message := faultOf(root, pages, name, l.target); message != "" {
				problems = append(problems, Problem{name, l.line, message})
			}
		}
	}
	return sorted(problems), nil
}

// faultOf says what is wrong with a link from the page called name; "" if nothing is.
func faultOf(root string, pages map[string]page, name, target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return fmt.Sprintf("link %q: %v", target, err)
	}
	if u.Scheme != "" || u.Host != "" {
		return ""
	}
	file := name
	switch {
	case target == "":
		return "link without a target"
	case strings.HasPrefix(u.Path, "/"): // GitHub: from the root of the repository
		file = path.Clean(u.Path[1:])
	case u.Path != "":
		file = path.Join(path.Dir(name), u.Path)
	}
	if file == ".." || strings.HasPrefix(file, "../") {
		return fmt.Sprintf("link %q leaves the repository", target)
	}
	info, err := os.Stat(filepath.Join(root, file))
	if err != nil {
		return fmt.Sprintf("link %q: there is no %s", target, file)
	}
	if u.Fragment == "" {
		return ""
	}
	if info.IsDir() {
		file = path.Join(file, "README.md") // which GitHub shows below the listing
	}
	to, ok := pages[file]
	switch {
	case !ok && info.IsDir():
		return fmt.Sprintf("link %q: there is no %s to hold the anchor", target, file)
	case !ok: // lines of a source file
		return ""
	case !to.anchors[u.Fragment]:
		return fmt.Sprintf("link %q: %s has no heading or anchor #%s", target, file, u.Fragment)
	}
	return ""
}
