package chaos

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// book is where everything that happens is written down, in one order, with the moment
// on the harness's clock, and handed to the umpire.
type book struct {
	mu     sync.Mutex
	start  time.Time
	umpire *Umpire
	copy   io.Writer     // gets all lines but those of accepted records; nil: nobody reads them
	failed chan struct{} // closed with the first violation
	over   bool
}

func newBook(u *Umpire) *book {
	return &book{start: time.Now(), umpire: u, failed: make(chan struct{})}
}

// now is the harness's clock, which nobody sets.
func (b *book) now() time.Duration { return time.Since(b.start) }

// add writes down an event.
func (b *book) add(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addLocked(e)
}

func (b *book) addLocked(e Event) {
	e.At = b.now()
	if b.copy != nil && e.Kind != Accepted {
		fmt.Fprintf(b.copy, "election %2d  %s\n", e.Election, e)
	}
	b.umpire.See(e)
	b.notice()
}

// waiting tells whether somebody has to lead in an election and does not yet.
func (b *book) waiting(election int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.umpire.Look(election, b.now())
	b.notice()
	return b.umpire.Waiting(election)
}

// violated is for rules that the harness judges itself.
func (b *book) violated(rule Rule, election int, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.umpire.violated(rule, election, format, args...)
	b.notice()
}

func (b *book) notice() {
	if len(b.umpire.violations) > 0 && !b.over {
		b.over = true
		close(b.failed)
	}
}

// rest ends the waiting for leaders: everybody is sent home.
func (b *book) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.umpire.rest()
}

// progress is a line about how far it has come.
func (b *book) progress() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.umpire.progress(b.now())
}
