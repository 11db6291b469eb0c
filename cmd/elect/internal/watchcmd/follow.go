package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/screen"
	"github.com/cloudelect/cloudelect/core"
)

// watcher follows one election.
type watcher struct {
	env             *cliutil.Env
	screen          *screen.Screen
	store           string
	decider         core.RaceDecider
	poll            time.Duration
	asJSON, verbose bool

	seen    *statuscmd.Sight // the last look that taught something; nil: none did
	clock   storeClock
	failing error // what the store says since then; nil: nothing wrong
	last    change
	version string // of the last line with -v
}

// look is the outcome of one read.
type look struct {
	statuscmd.Sight
	err error
}

// frame is how often the terminal is redrawn.
const frame = 200 * time.Millisecond

// run reads on a goroutine of its own, so that a store that hangs does not stop
// the countdown, and shows what comes until ctx ends.
func (w *watcher) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	looks := make(chan look)
	var reading sync.WaitGroup
	reading.Go(func() { w.read(ctx, looks) })
	defer reading.Wait()
	defer cancel()

	redraw := time.NewTicker(frame)
	defer redraw.Stop()
	for {
		select {
		case l := <-looks:
			if errors.Is(l.err, core.ErrBroken) && w.seen == nil {
				return l.err
			}
			w.take(l)
		case <-redraw.C:
		case <-ctx.Done():
			w.screen.Keep()
			return nil
		}
		if err := w.show(time.Now()); err != nil {
			return err
		}
	}
}

// read looks at the entry again and again.
func (w *watcher) read(ctx context.Context, looks chan<- look) {
	every := w.poll
	for {
		s, err := statuscmd.Look(ctx, w.decider, statuscmd.DefaultTimeout)
		select {
		case looks <- look{s, err}:
		case <-ctx.Done():
			return
		}
		if w.poll == 0 {
			every = pollInterval(s.Entry.TermLength)
		}
		t := time.NewTimer(every)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// pollInterval is a candidate's default (core.Config.PollInterval).
func pollInterval(term time.Duration) time.Duration {
	if term == 0 {
		term = 15 * time.Second
	}
	return min(max(term/5, 500*time.Millisecond), 5*time.Second)
}

// take notes a look, and says when the store begins to fail and stops failing.
func (w *watcher) take(l look) {
	switch {
	case l.err != nil && (w.failing == nil || w.failing.Error() != l.err.Error()):
		w.complain("watch: %v; trying again", l.err)
	case l.err == nil && w.failing != nil:
		w.complain("watch: the store answers again")
	}
	w.failing = l.err
	if l.err == nil {
		w.seen = &l.Sight
		w.clock.saw(l.Date(), l.Got)
	}
}

func (w *watcher) complain(format string, args ...any) {
	if w.screen.Terminal() && !w.asJSON {
		w.screen.Print(fit("elect: "+cliutil.Line(fmt.Errorf(format, args...)), 4*w.screen.Style().Width) + "\n")
		return
	}
	w.env.Warn(format, args...)
}

// show prints what has changed, and draws the state on a terminal.
func (w *watcher) show(now time.Time) error {
	if w.seen == nil {
		w.draw("waiting for the store's first answer\n")
		return nil
	}
	st := w.state(now)
	c := changeOf(st)
	isNew := c != w.last || w.verbose && st.Version != w.version
	w.last, w.version = c, st.Version
	if isNew {
		if w.asJSON {
			if err := cliutil.WriteJSON(w.env.Stdout, st); err != nil {
				return err
			}
		} else {
			w.screen.Print(line(now, st, w.verbose) + "\n")
		}
	}
	w.draw(w.view(now, st))
	return nil
}

func (w *watcher) draw(text string) {
	if !w.asJSON {
		w.screen.Redraw("\n" + text)
	}
}

// state is what was seen last, as it is now: the term goes on between two looks.
func (w *watcher) state(now time.Time) statuscmd.State {
	s := *w.seen
	st := statuscmd.Describe(w.store, s)
	if st.TimeLeftMS == nil {
		return st
	}
	left, byStore := s.TimeLeft()
	if byStore {
		left = s.LeftAt(w.clock.at(now))
	} else {
		left -= now.Sub(s.Got)
	}
	*st.TimeLeftMS = left.Milliseconds()
	if left <= 0 {
		st.State = statuscmd.Expired
	}
	return st
}

// storeClock guesses the store's clock, for people to look at: every Date is in
// whole seconds cut off, so the highest of them, carried on, comes closest.
type storeClock struct {
	date time.Time
	got  time.Time // on the local clock, when date had come
}

func (c *storeClock) saw(date, got time.Time) {
	if date.IsZero() {
		return
	}
	// A clock that is far behind the guess was set back, or is another server's.
	if guess := c.at(got); c.date.IsZero() || date.After(guess) || guess.Sub(date) > 2*time.Second {
		c.date, c.got = date, got
	}
}

func (c *storeClock) at(now time.Time) time.Time { return c.date.Add(now.Sub(c.got)) }
