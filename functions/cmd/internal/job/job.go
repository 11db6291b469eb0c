// Package job is the container that the programs in functions/cmd/job-worker are: they
// differ in their store only. One of them at a time works, or one in all per slot.
// The work is to write a record of who did it, which a leader of the past cannot
// write: that is the place for your own work.
package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
	"github.com/cloudelect/cloudelect/functions/jobleader"
)

// Run runs the task that the environment describes, and returns its exit code:
// jobleader's. Out gets a line when the work begins and when it is done.
func Run(ctx context.Context, getenv func(string) string, open store.Open, out, log io.Writer) int {
	r := settings.New(getenv)
	t := &task{out: out, workTime: r.Duration("WORK_TIME", 0, settings.Range{Most: entry.MaxTermLength})}
	cfg := config(r)
	s, err := open(ctx, r)
	if err != nil {
		code := jobleader.ExitConfig
		if errors.Is(err, core.ErrBroken) {
			code = jobleader.ExitBroken
		}
		fmt.Fprintf(log, "job: not started: %v (exit code %d)\n", err, code)
		return code
	}
	defer s.Close()
	t.store, t.term, cfg.Election.Decider = s, cfg.Election.TermLength, s.Decider
	cfg.Stderr, cfg.Election.Logger = adviser{log}, logger(log)
	return jobleader.Run(ctx, cfg, t.work)
}

type task struct {
	out      io.Writer
	store    *store.Store
	term     time.Duration
	workTime time.Duration
}

// work is the work: replace the pause by yours, and let what it writes be as the
// record is, such that a leader of the past cannot write it.
func (t *task) work(ctx context.Context, l *core.Leadership) error {
	record, shown := fmt.Sprint("reign ", l.FencingToken()), ""
	if slot, ok := jobleader.SlotFrom(ctx); ok {
		record = slot.String()
		if name := slot.Name(); name != "" { // String shortens a long one, and two of them could be one
			record, shown = "name:"+name, strconv.Quote(name) // a name may be a time, which is another slot
		}
	}
	shown = cmp.Or(shown, record)
	fmt.Fprintf(t.out, "working on %s as %s, fencing token %d\n", shown, l.Entry().LeaderID, l.FencingToken())
	timer := time.NewTimer(t.workTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	stored, err := t.store.Put(ctx, l, t.term, store.Record{
		Slot: record, LeaderID: l.Entry().LeaderID, FencingToken: l.FencingToken(), DoneAt: time.Now(),
	})
	switch {
	case err != nil:
		return storeError{err}
	case !stored:
		fmt.Fprintf(t.out, "%s was recorded before\n", shown)
	default:
		fmt.Fprintf(t.out, "%s is done\n", shown)
	}
	return nil
}

// storeError is why there is no record, which is the store's fault and not the work's:
// jobleader takes the exit code from it, unless the reign or the task is over.
type storeError struct{ error }

func (e storeError) Unwrap() error { return e.error }

func (e storeError) ExitCode() int {
	if errors.Is(e.error, core.ErrBroken) {
		return jobleader.ExitBroken
	}
	return jobleader.ExitUnavailable
}

// Main is Run for a main function.
func Main(open store.Open) int {
	return Run(context.Background(), os.Getenv, open, os.Stdout, os.Stderr)
}
