package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// watcher is an `elect watch` that runs from the beginning to the end: what it holds on
// to must not grow, whatever the network does.
type watcher struct {
	*child
	store string
	out   *os.File
	first int // open files, when it had settled
	looks int
}

const (
	settled   = 3  // looks after which a process has what it needs
	moreFiles = 10 // connections that may be open at one moment and not at another
)

// watch starts a watcher for the first election of each store.
func (r *run) watch() {
	for i, s := range r.stage.sites[:min(len(Stores()), len(r.stage.sites))] {
		out, err := os.Create(filepath.Join(r.dir, fmt.Sprintf("watch-%d.log", i)))
		if err == nil {
			var ch *child
			ch, err = r.children.start(append(append([]string{}, r.Elect...), "watch", "--json", "--store", s.url), r.environ(s), out)
			if err == nil {
				r.watchers = append(r.watchers, &watcher{child: ch, store: s.store, out: out})
				continue
			}
			out.Close()
		}
		r.book.violated(RuleHarness, i, "elect watch: %v", err)
	}
}

// sample counts processes, and files of elect.
func (r *run) sample() {
	running := marked(r.marker)
	r.peak = max(r.peak, len(running))
	for _, s := range running {
		r.mostFiles = max(r.mostFiles, handles(strconv.Itoa(s.pid)))
	}
	for _, w := range r.watchers {
		if w.looks++; w.looks == settled {
			w.first = handles(strconv.Itoa(w.pid))
		}
	}
}

// unwatch ends the watchers, after a last look at them.
func (r *run) unwatch() {
	for _, w := range r.watchers {
		if n := handles(strconv.Itoa(w.pid)); w.looks > settled && n > w.first+moreFiles {
			r.book.violated(RuleHandles, noElection, "elect watch (%s) has %d open files, and had %d in the beginning", w.store, n, w.first)
		}
		w.kill(syscall.SIGINT)
		<-w.done
		if !w.end.Exited() || w.end.ExitStatus() != 0 {
			r.book.violated(RuleExit, noElection, "elect watch (%s) ended with %s, and said:\n%s", w.store, ending(w.end), tail(w.out))
		}
		w.out.Close()
	}
}
