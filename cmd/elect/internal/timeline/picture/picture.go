// Package picture writes a chart of core/timeline to the file that --timeline
// names, so that there is always a whole picture or none.
package picture

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/core/timeline"
)

// File is where a picture goes.
type File struct {
	path string // with symbolic links followed
	html bool
}

// Flag adds --timeline to a command. What it returns opens the file, nil where none
// is asked for: call it before the command does anything.
func Flag(cmd *cobra.Command) (open func() (*File, error)) {
	path := cmd.Flags().String("timeline", "", "write a picture of what happened to this .svg or .html file; replaces a picture that is there")
	return func() (*File, error) {
		if !cmd.Flags().Changed("timeline") {
			return nil, nil
		}
		return Open(*path)
	}
}

// Open makes sure that a picture can be written to path, and that nothing but an
// older picture is lost by that. Its errors have exit codes: the command line has
// to be changed.
func Open(path string) (*File, error) {
	f := &File{path: path}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
	case ".html":
		f.html = true
	default:
		return nil, cliutil.Usage("--timeline %.200q: give a file that ends in .svg or .html, which is how the picture is written", path)
	}
	real, err := followed(path)
	if err != nil {
		return nil, cliutil.Usage("--timeline %.200q: %w", path, err)
	}
	f.path = real
	if err := f.ours(); err != nil {
		return nil, cliutil.Usage("--timeline %.200q: %w", path, err)
	}
	if err := f.replace(nil, false); err != nil {
		return nil, cliutil.Usage("--timeline %.200q cannot be written: %w", path, err)
	}
	return f, nil
}

// followed is where the symbolic links of a name end, also where nothing is yet: the
// links are the user's and stay.
func followed(path string) (string, error) {
	at := path
	for range 40 { // more than any system follows
		info, err := os.Lstat(at)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			// Not by filepath.Dir, which cleans: after a link to a folder ".." is
			// beside that folder. What is wrong with the name shows when it is used.
			dir, name := filepath.Split(at)
			if real, err := filepath.EvalSymlinks(dir); err == nil && dir != "" {
				at = filepath.Join(real, name)
			}
			return at, nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(at)
			to = dir + to
		}
		at = to
	}
	return "", errors.New("it is a symbolic link that leads to itself: choose another name")
}

// ours refuses to replace what elect has not written, or what somebody protects.
func (f *File) ours() error {
	info, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0: // links were followed, so it was put there since
		return errors.New("it has become a symbolic link: choose another name")
	case !info.Mode().IsRegular():
		return errors.New("it is there and is no file: choose another name")
	case info.Mode().Perm()&0o222 == 0: // also for root, who could
		return errors.New("it is there and is read-only: allow writing to it (chmod u+w), or choose another name")
	}
	old, err := os.OpenFile(f.path, os.O_RDWR, 0) // a file that may not be written is not replaced either
	if err != nil {
		return err
	}
	defer old.Close()
	if info.Size() == 0 {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(old, 4096))
	if err != nil {
		return err
	}
	if !timeline.IsPicture(head) {
		return errors.New("it is there, and elect did not write it: choose another name, or remove it")
	}
	return nil
}

// Write puts the chart into the file, in one step: whoever looks sees the old
// picture or the new one, also when the machine ends meanwhile. A nil File writes nothing.
func (f *File) Write(c *timeline.Chart) error {
	if f == nil {
		return nil
	}
	var b bytes.Buffer
	write := c.WriteSVG
	if f.html {
		write = c.WriteHTML
	}
	err := write(&b)
	if err == nil {
		err = f.ours()
	}
	if err == nil {
		err = f.replace(b.Bytes(), true)
	}
	if err != nil {
		return fmt.Errorf("timeline: %s was not written: %w", f.path, err)
	}
	return nil
}

// replace writes a new file beside the old one, and puts it in its place unless
// this is only to see whether that can be done.
func (f *File) replace(picture []byte, keep bool) (err error) {
	mode := fs.FileMode(0o666) // less what the user's umask takes away
	if info, err := os.Stat(f.path); err == nil {
		mode = info.Mode().Perm()
	}
	name := filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+"."+rand.Text()[:8])
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil || !keep {
			os.Remove(name)
		}
	}()
	if _, err = file.Write(picture); err == nil && keep {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil || !keep {
		return err
	}
	return os.Rename(name, f.path)
}
