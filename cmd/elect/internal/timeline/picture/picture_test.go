package picture

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/core/timeline"
)

func chart(title string) *timeline.Chart {
	return &timeline.Chart{Title: title, Rows: []timeline.Row{{Name: "a", Reigns: []timeline.Reign{{Span: timeline.Span{To: time.Second}, Token: 1}}}}}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// only asserts that nothing else is in the folder: no half-written file.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("in the folder are %q, want %q", got, names)
	}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct{ name, begins string }{{"a.svg", "<svg "}, {"b.HTML", "<!DOCTYPE html>"}} {
		dir := t.TempDir()
		path := filepath.Join(dir, c.name)
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		only(t, dir) // nothing yet: a picture that never comes leaves no file
		for _, title := range []string{"the first", "the second"} {
			if err := f.Write(chart(title)); err != nil {
				t.Fatal(err)
			}
			if text := read(t, path); !strings.HasPrefix(text, c.begins) || !strings.Contains(text, title) {
				t.Errorf("%s has %.100q", c.name, text)
			}
		}
		only(t, dir, c.name)
		if _, err := Open(path); err != nil {
			t.Errorf("a picture of elect's own is not replaced: %v", err)
		}
	}
}

func TestNoFile(t *testing.T) {
	open := Flag(&cobra.Command{})
	f, err := open()
	if f != nil || err != nil {
		t.Errorf("%v, %v", f, err)
	}
	if err := f.Write(chart("x")); err != nil {
		t.Error(err)
	}
}

// What cannot be is said before anything begins, and nothing is lost.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "drawing.svg")
	if err := os.WriteFile(mine, []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.svg"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, say := range map[string]string{
		"":                                  "ends in .svg or .html",
		"-":                                 "ends in .svg or .html",
		"picture.png":                       "ends in .svg or .html",
		"picture":                           "ends in .svg or .html",
		".svg/":                             "ends in .svg or .html",
		mine:                                "elect did not write it",
		filepath.Join(dir, "folder.svg"):    "is no file",
		filepath.Join(dir, "none", "x.svg"): "cannot be written",
		filepath.Join(mine, "x.html"):       "x.html",
		filepath.Join(dir, "nul\x00l.svg"):  "nul",
		filepath.Join(dir, strings.Repeat("x", 300)+".svg"): "--timeline",
	} {
		_, err := Open(path)
		if cliutil.CodeOf(err) != cliutil.ExitUsage || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want a usage error that says %q", path, err, say)
		}
	}
	if got := read(t, mine); !strings.HasPrefix(got, "<svg xmlns='") {
		t.Errorf("the file is now %q", got)
	}
	only(t, dir, "drawing.svg", "folder.svg")
}

// Somebody may have put something there since.
func TestRefusedLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svg")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(chart("x")); err == nil || !strings.Contains(err.Error(), "did not write it") {
		t.Errorf("%v", err)
	}
	if got := read(t, path); got != "mine" {
		t.Errorf("the file is now %q", got)
	}
}

func TestLinksAndModesStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege there, and modes mean something else")
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real.svg"), filepath.Join(dir, "link.svg")
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.svg", link); err != nil {
		t.Fatal(err)
	}
	f, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(chart("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err = os.Stat(path); err != nil || info.Mode().Perm() != 0o640 || info.Size() == 0 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

// A link to a file that is not there yet stays a link, and the file comes.
func TestADanglingLinkIsFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege there")
	}
	dir := t.TempDir()
	for _, folder := range []string{"pictures", "links"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"links/second.svg":  "../pictures/real.svg",
		"links/first.svg":   "second.svg",
		"links/folder":      "../pictures",
		"links/there.svg":   "folder/../pictures/other.svg",
		"links/loop.svg":    "loop.svg",
		"links/nowhere.svg": "none/x.svg",
	} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	for link, real := range map[string]string{"first.svg": "real.svg", "there.svg": "other.svg"} {
		link, real = filepath.Join(dir, "links", link), filepath.Join(dir, "pictures", real)
		for _, title := range []string{"the first", "the second"} {
			f, err := Open(link)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Write(chart(title)); err != nil {
				t.Fatal(err)
			}
			if text := read(t, real); !strings.Contains(text, title) {
				t.Errorf("%s has %.100q", real, text)
			}
			if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is %v, %v", info, err)
			}
		}
	}
	for link, say := range map[string]string{"loop.svg": "leads to itself", "nowhere.svg": "cannot be written"} {
		if _, err := Open(filepath.Join(dir, "links", link)); cliutil.CodeOf(err) != cliutil.ExitUsage || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want a usage error that says %q", link, err, say)
		}
	}
	only(t, filepath.Join(dir, "links"), "first.svg", "folder", "loop.svg", "nowhere.svg", "second.svg", "there.svg")
}

// What the user has protected is not replaced, though its folder would allow it.
func TestAReadOnlyPictureStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svg")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(chart("the first")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); cliutil.CodeOf(err) != cliutil.ExitUsage || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v, want a usage error that says that it is read-only", err)
	}
	if err := f.Write(chart("the second")); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("protected since: %v", err)
	}
	if text := read(t, path); !strings.Contains(text, "the first") {
		t.Errorf("it has been replaced: %.300q", text)
	}
	if err := os.Chmod(path, 0o644); err != nil { // or it cannot be removed everywhere
		t.Fatal(err)
	}
	if err := f.Write(chart("the third")); err != nil {
		t.Errorf("writable again: %v", err)
	}
}

// A link that was put there since is nobody's to replace.
func TestALinkThatComesLater(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege there")
	}
	path := filepath.Join(t.TempDir(), "x.svg")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere.svg", path); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(chart("x")); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("%v", err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}
