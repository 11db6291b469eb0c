// Package job is the container that the programs in functions/cmd/job-worker are: they
// differ in their store only. One of them at a time works, or one in all per slot.
// The work is to write a record of who did it, which a leader of the past cannot
// write: that is the place for your own work.
package job

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
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
	cfg.Stderr = log
	s, err := open(ctx, r)
	if err != nil {
		fmt.Fprintf(log, "job: not started: %v (exit code %d)\n", err, jobleader.ExitConfig)
		return jobleader.ExitConfig
	}
	defer s.Close()
	t.store, cfg.Election.Decider = s, s.Decider
	cfg.Election.Logger = logger(log)
	return jobleader.Run(ctx, cfg, t.work)
}

type task struct {
	out      io.Writer
	store    *store.Store
	workTime time.Duration
}

// work is the work: replace the pause by yours, and let what it writes be as the
// record is, such that a leader of the past cannot write it.
func (t *task) work(ctx context.Context, l *core.Leadership) error {
	name := fmt.Sprint("reign ", l.FencingToken())
	if slot, ok := jobleader.SlotFrom(ctx); ok {
		name = cmp.Or(slot.Name(), slot.String()) // String shortens a long name, and two of them could be one
	}
	fmt.Fprintf(t.out, "working on %s as %s, fencing token %d\n", name, l.Entry().LeaderID, l.FencingToken())
	timer := time.NewTimer(t.workTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	stored, err := t.store.Write(ctx, l, store.Record{
		Slot: name, LeaderID: l.Entry().LeaderID, FencingToken: l.FencingToken(), DoneAt: time.Now(),
	})
	switch {
	case err != nil:
		return err
	case !stored:
		fmt.Fprintf(t.out, "%s was recorded before\n", name)
	default:
		fmt.Fprintf(t.out, "%s is done\n", name)
	}
	return nil
}

// Main is Run for a main function.
func Main(open store.Open) int {
	return Run(context.Background(), os.Getenv, open, os.Stdout, os.Stderr)
}
