package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// run is one run of chaos: what all of its parts share.
type run struct {
	Options
	plan     Plan
	dir      string
	marker   string // in the environment of everything that is started
	book     *book
	lag      *lagMeter
	vault    *vault
	counter  *counter
	children *children
	stage    *stage
	places   [][]*place
	watchers []*watcher

	peak      int // processes
	mostFiles int // of an elect
}

var errOver = errors.New("chaos: over")

// Run lets it all happen, and returns what came of it. An error means that the harness
// could not do its work; what elect does wrong is in the result. When it returns no
// process, goroutine or file of it is left, or the result says so. It ends early, and
// says so, when ctx does.
func Run(ctx context.Context, o Options) (Result, error) {
	if err := o.complete(); err != nil {
		return Result{}, err
	}
	before := own()
	r := &run{Options: o, plan: Plan{o.Seed, o.Elections, o.Term}}
	result, err := r.whole(ctx)
	if err != nil {
		return result, err
	}
	if what := leaked(before, 5*time.Second); what != "" {
		result.Violations = append(result.Violations, Violation{Rule: RuleHandles, Election: noElection, Seed: o.Seed, What: what})
	}
	if len(result.Violations) == 0 && !result.Interrupted {
		result.demand(o.Goals)
	}
	return result, nil
}

// whole sets everything up, lets it happen, and clears it away.
func (r *run) whole(ctx context.Context) (Result, error) {
	close, err := r.open()
	if err != nil {
		close()
		return Result{}, err
	}
	interrupted := r.perform(ctx)
	r.dismiss()
	close()
	stores := make([]string, r.Elections)
	for e := range stores {
		stores[e] = r.stage.sites[e].store
		if err := audit(r.vault.shelves[e].log); err != nil {
			r.book.violated(RuleStale, e, "the log of the resource: %v", err)
		}
	}
	result := r.book.umpire.result(stores)
	result.Seconds, result.Interrupted = r.book.now().Seconds(), interrupted
	result.WorstLagMS, result.Processes, result.ElectFiles = r.lag.most().Milliseconds(), r.peak, r.mostFiles
	return result, nil
}

// open sets everything up; close, which is never nil, clears it away.
func (r *run) open() (close func(), err error) {
	var closes []func()
	close = func() {
		for i := len(closes) - 1; i >= 0; i-- {
			closes[i]()
		}
	}
	if r.dir = r.Keep; r.dir == "" {
		if r.dir, err = os.MkdirTemp("", "chaos-"); err != nil {
			return close, err
		}
		closes = append(closes, func() { os.RemoveAll(r.dir) })
	} else if err = os.MkdirAll(r.dir, 0o700); err != nil {
		return close, err
	}
	events, err := os.Create(filepath.Join(r.dir, "events.log"))
	if err != nil {
		return close, err
	}
	closes = append(closes, func() { events.Close() })
	r.marker = "ELECT_CHAOS_RUN=" + filepath.Base(r.dir) + "-" + fmt.Sprint(os.Getpid())
	r.book = newBook(NewUmpire(r.Seed, r.Elections, r.Term))
	r.book.copy = events
	r.lag = startLag(r.book.now)
	closes = append(closes, r.lag.close)
	r.book.umpire.Lag = r.lag.between
	if r.stage, err = setStage(r.Elections); err != nil {
		return close, err
	}
	closes = append(closes, r.stage.close)
	if r.children, err = newChildren(); err != nil {
		return close, err
	}
	closes = append(closes, r.children.close)
	r.vault = newVault(r.book, r.Elections)
	if r.counter, err = openCounter(r.vault, r.dir); err != nil {
		return close, err
	}
	closes = append(closes, r.counter.close)
	return close, r.checkClock()
}

// environ is what a process finds: nothing of the user's own, which is none of its
// business.
func (r *run) environ(s *site) []string {
	env := []string{r.marker, "PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "TMPDIR=" + r.dir}
	return append(append(env, s.environ...), r.Env...)
}

// perform lets things happen until time is up, something is wrong, or ctx ends, and
// tells whether it was the last.
func (r *run) perform(ctx context.Context) (interrupted bool) {
	abort, end := context.WithCancelCause(ctx)
	defer end(errOver)
	up, cancel := context.WithTimeout(abort, r.For)
	defer cancel()
	hiring, stopHiring := context.WithCancel(context.WithoutCancel(ctx))

	var staff, plays sync.WaitGroup
	for e, s := range r.stage.sites {
		var places []*place
		for n := range r.Candidates {
			p := &place{run: r, site: s, election: e, number: n}
			places = append(places, p)
			staff.Go(func() { p.keep(hiring) })
		}
		r.places = append(r.places, places)
		play := &play{run: r, election: e, proxy: s.proxy, places: places}
		plays.Go(func() {
			play.perform(abort, up)
			play.proxy.Clear()
		})
	}
	r.watch()
	done := make(chan struct{})
	go func() { plays.Wait(); close(done) }()
	r.report(done, end)
	r.book.rest()

	stopHiring()
	r.sendHome(&staff)
	return ctx.Err() != nil
}

// report prints a line every few seconds until done; when something is wrong it ends
// everything.
func (r *run) report(done <-chan struct{}, end context.CancelCauseFunc) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	failed := r.book.failed
	for {
		select {
		case <-done:
			r.sample()
			return
		case <-failed:
			failed = nil
			end(errOver)
		case <-tick.C:
			r.sample()
			fmt.Fprintln(r.Progress, r.book.progress()+fmt.Sprintf("  processes %d", r.peak))
		}
	}
}
