package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/rig"
)

// Job is the play of two containers of one job.
type Job struct {
	Stores   *rig.Stores
	Worker   string // path of the program
	Election string // the variable STORE
	Say      func(format string, args ...any)
}

// A term that is longer than anybody should have to wait here, and how long a container
// may take to stop, which is longer than platforms allow: this machine may be slow.
const (
	jobTerm = 3 * time.Minute
	grace   = time.Minute
)

// Play runs all of it. An error says what was not as promised.
func (p *Job) Play(ctx context.Context) error {
	p.Say("container A works; B waits for its turn")
	a, err := p.container("A", p.Election, "WORK_TIME=10m", "GRACE="+grace.String())
	if err != nil {
		return err
	}
	defer a.Close()
	if _, err := a.Await(ctx, "working", working); err != nil {
		return err
	}
	b, err := p.container("B", p.Election, "WORK_TIME=300ms")
	if err != nil {
		return err
	}
	defer b.Close()
	select { // for B to look; whatever it does in that time, it must not work
	case <-time.After(time.Second):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if lines := b.Lines(); slices.ContainsFunc(lines, working) {
		return fmt.Errorf("stage: B works beside A: %q", lines)
	}
	p.Say("A gets SIGTERM")
	told := time.Now()
	if err := a.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	code, err := a.Wait(ctx)
	if err != nil {
		return err
	}
	took := time.Since(told)
	p.Say("  A ended %.1f s later with exit code %d", took.Seconds(), code)
	if code != 128+int(syscall.SIGTERM) {
		return fmt.Errorf("stage: A ended %v after SIGTERM with exit code %d, want 143; it printed %q", took, code, a.Lines())
	}
	line, err := b.Await(ctx, "working", working)
	if err != nil {
		return err
	}
	took = time.Since(told)
	p.Say("  B, %.1f s after the signal: %s", took.Seconds(), line)
	if took > jobTerm/2 { // two thirds of the term were left at least
		return fmt.Errorf("stage: B waited for the end of A's term, so A did not resign; it printed %q", a.Lines())
	}
	if err := p.ends(ctx, b, 0); err != nil {
		return err
	}
	if err := p.records(ctx, p.Election, line); err != nil {
		return err
	}
	return p.execution(ctx)
}

// execution: of three tasks of one execution one works, however late the others come.
func (p *Job) execution(ctx context.Context) error {
	election := p.Election + "-tasks"
	env := []string{"WORK_TIME=300ms", "SLOT=execution", "CLOUD_RUN_EXECUTION=nightly-x7k2p"}
	p.Say("three tasks of one execution begin, the third when the work is done")
	var tasks []*rig.Process
	start := func(name string) error {
		t, err := p.container(name, election, env...)
		if err == nil {
			tasks = append(tasks, t)
		}
		return err
	}
	defer func() {
		for _, t := range tasks {
			t.Close()
		}
	}()
	for _, name := range []string{"task 0", "task 1"} {
		if err := start(name); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		if err := p.ends(ctx, t, 0); err != nil {
			return err
		}
	}
	if err := start("task 2"); err != nil {
		return err
	}
	if err := p.ends(ctx, tasks[2], 0); err != nil {
		return err
	}
	worked := ""
	for _, t := range tasks {
		for _, line := range t.Lines() {
			if working(line) {
				if worked != "" {
					return fmt.Errorf("stage: two tasks worked: %q and %q", worked, line)
				}
				worked = line
				p.Say("  %s: %s", t.Name, line)
			}
		}
	}
	return p.records(ctx, election, worked)
}

func (p *Job) container(name, election string, env ...string) (*rig.Process, error) {
	return rig.Start(name, slices.Concat(p.Stores.Env, []string{"STORE=" + election, "TERM_LENGTH=" + jobTerm.String()}, env), p.Worker)
}

func (p *Job) ends(ctx context.Context, c *rig.Process, want int) error {
	code, err := c.Wait(ctx)
	if err == nil && code != want {
		err = fmt.Errorf("stage: %s ended with exit code %d, want %d; it printed %q", c.Name, code, want, c.Lines())
	}
	if err == nil {
		p.Say("  %s ended with exit code %d", c.Name, code)
	}
	return err
}

// records: there is one, of whoever said that it was at work.
func (p *Job) records(ctx context.Context, election, worked string) error {
	records, err := p.Stores.Records(ctx, election)
	if err != nil {
		return err
	}
	if len(records) != 1 || !strings.Contains(worked, " as "+records[0].LeaderID+",") {
		return fmt.Errorf("stage: the records are %+v, want one, of the leader in %q", records, worked)
	}
	p.Say("  stored: %s was done once, fencing token %d", records[0].Slot, records[0].FencingToken)
	return nil
}

func working(line string) bool { return strings.HasPrefix(line, "working on ") }
