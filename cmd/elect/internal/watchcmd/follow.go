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
	failing error           // what the store says since then; nil: nothing wrong
	asked   time.Time       // when the watch began
	late    bool            // nothing was heard for so long that it was said
	warned  map[string]bool // of which clocks it was said that they are wrong
	last    change
	version string   // of the last line with -v
	drawing *drawing // nil: nobody wants a picture
	undrawn bool     // it was said that the picture cannot be written
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

	clock := w.env.HostClock()
	w.asked = clock.Now()
	w.drawing.begin(w.store, w.asked)
	draw := time.NewTicker(drawEvery)
	defer draw.Stop()
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
		case <-draw.C:
			if err := w.drawing.write(clock.Now()); err != nil && !w.undrawn {
				w.undrawn = true
				w.complain("watch: %v; trying again", err)
			}
		case <-ctx.Done():
			w.screen.Keep()
			if err := w.drawing.write(clock.Now()); err != nil {
				return cliutil.Exit(cliutil.ExitFailed, "watch: %w", err)
			}
			return nil
		}
		if err := w.show(clock.Now()); err != nil {
			return err
		}
	}
}

// read looks at the entry again and again.
func (w *watcher) read(ctx context.Context, looks chan<- look) {
	for {
		s, err := statuscmd.Look(ctx, w.env.HostClock(), w.decider, statuscmd.DefaultTimeout)
		select {
		case looks <- look{s, err}:
		case <-ctx.Done():
			return
		}
		t := time.NewTimer(w.every(s.Entry.TermLength))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// every is how often to read an entry with this term.
func (w *watcher) every(term time.Duration) time.Duration {
	if w.poll > 0 {
		return w.poll
	}
	return pollInterval(term)
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
	case l.err == nil && (w.failing != nil || w.late):
		w.complain("watch: the store answers again")
	}
	w.drawing.take(l)
	w.failing, w.late = l.err, w.late && l.err != nil
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
	blind := w.blind(now)
	if w.seen == nil && blind == nil {
		w.draw("waiting for the store's first answer\n")
		return nil
	}
	if blind != nil && w.failing == nil {
		w.drawing.unseen(w.heard(), now, blind)
		if !w.late {
			w.late = true
			w.complain("watch: %v; still waiting", blind)
		}
	}
	st := w.state(now, blind)
	w.warnOfClocks(st)
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

// warnOfClocks says once of every clock that it is wrong: what is proved of it changes
// with every answer. The live picture has a line of its own for that, and JSON a field.
func (w *watcher) warnOfClocks(st statuscmd.State) {
	if st.ClockWarning == "" || w.asJSON || w.screen.Terminal() {
		return
	}
	which := st.LocalClock
	if st.WriterClockAheadMS != nil {
		which += " " + st.LeaderID
	}
	if w.warned[which] {
		return
	}
	if w.warned == nil {
		w.warned = make(map[string]bool)
	}
	w.warned[which] = true
	w.complain("watch: %s", st.ClockWarning)
}

func (w *watcher) draw(text string) {
	if !w.asJSON {
		w.screen.Redraw("\n" + text)
	}
}

// blind says why what was seen last may not be the case any more; nil: it still is. An
// answer may be under way for a second before that counts as silence.
func (w *watcher) blind(now time.Time) error {
	term := time.Duration(0)
	if w.seen != nil {
		term = w.seen.Entry.TermLength
	}
	switch silence := now.Sub(w.heard()); {
	case w.failing != nil:
		return w.failing
	case silence > 2*w.every(term)+time.Second:
		return fmt.Errorf("the store has not answered for %s", statuscmd.Seconds(silence))
	}
	return nil
}

// heard is when the last answer came that taught something, or else when it was asked
// for first.
func (w *watcher) heard() time.Time {
	if w.seen != nil {
		return w.seen.Got
	}
	return w.asked
}

// state is what was seen last, as it is now: the term goes on between two looks. It
// does not end between them, for the leader may have renewed it.
func (w *watcher) state(now time.Time, blind error) statuscmd.State {
	if w.seen == nil {
		return statuscmd.NeverSeen(w.store, blind)
	}
	s := *w.seen
	st := statuscmd.Describe(w.store, s)
	if st.TimeLeftMS != nil {
		left, by := s.TimeLeft()
		if by == statuscmd.ByLocal {
			left -= now.Sub(s.Got)
		} else {
			left, _ = s.LeftAt(w.clock.at(now))
		}
		if st.State != statuscmd.Expired && blind == nil {
			left = max(left, 0)
		}
		*st.TimeLeftMS = left.Milliseconds()
	}
	if blind != nil {
		return st.Unseen(now, now.Sub(s.Got), blind)
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
