package chaos

import (
	"sync"
	"syscall"
	"time"
)

// sendHome asks every candidate to end, lets everything go on that is stopped, and
// kills who is left after a while.
func (r *run) sendHome(staff *sync.WaitGroup) {
	gone := make(chan struct{})
	go func() { staff.Wait(); close(gone) }()
	for tries := 0; ; tries++ {
		sig := syscall.SIGTERM
		if tries >= 10 {
			sig = syscall.SIGKILL
		}
		for _, places := range r.places {
			for _, p := range places {
				if ch := p.process(); ch != nil && (tries == 0 || sig == syscall.SIGKILL) {
					ch.kill(sig)
				}
			}
			(&play{run: r, election: places[0].election, places: places}).thaw()
		}
		select {
		case <-gone:
			if tries > 10 {
				r.book.violated(RuleExit, noElection, "some elect did not end within %d s after SIGTERM", tries)
			}
			return
		case <-time.After(time.Second):
		}
	}
}

// dismiss ends the watchers, and looks for what else is left.
func (r *run) dismiss() {
	r.unwatch()
	var left []status
	for deadline := time.Now().Add(2 * r.Term); ; time.Sleep(glance) {
		if left = marked(r.marker); len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	for _, s := range left {
		r.book.violated(RuleProcess, noElection, "process %d (state %c, child of %d) is left", s.pid, s.state, s.parent)
		s.signal(syscall.SIGKILL)
	}
}
