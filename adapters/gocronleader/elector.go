package gocronleader

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// ErrNotLeader: this instance does not lead, so the job is not run here.
var ErrNotLeader = errors.New("gocronleader: this instance does not lead")

// Elector is a gocron.Elector on an election of this instance's own. Get
// one from NewElector, and keep Run running beside the scheduler.
type Elector struct {
	cfg core.Config

	mu     sync.Mutex
	leads  *core.Leadership // the latest; Check tells whether it lasts
	leader string           // as last heard
	runs   bool             // Run does
}

var _ gocron.Elector = (*Elector)(nil)

// NewElector returns an elector for gocron.WithDistributedElector. The error Is
// core.ErrInvalidConfig, also for ManualRenew and WaitAtMost, which Run has no use for.
func NewElector(cfg core.Config) (*Elector, error) {
	faults := []error{cfg.Validate()}
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", core.ErrInvalidConfig, fmt.Sprintf(format, args...)))
	}
	if cfg.ManualRenew {
		fault("ManualRenew leaves renewing to the caller, but here nobody would renew: every reign would end with its first term")
	}
	if cfg.WaitAtMost != 0 {
		fault("WaitAtMost is %v: it has no meaning here, because Run campaigns until its context ends", cfg.WaitAtMost)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Elector{cfg: cfg}, nil
}

// Run campaigns until ctx ends or the store is broken, like core.Config.Acquire,
// whose error it returns. It resigns at its end: shut the scheduler down first, so
// that no job of this instance runs any more. OnElected, OnOusting and
// LeaderChanged of the given Config are still called. While it runs, another call
// returns an error that Is core.ErrInvalidConfig, and changes nothing: two
// candidates of one Elector would overwrite what it knows.
func (e *Elector) Run(ctx context.Context) error {
	e.mu.Lock()
	if e.runs {
		e.mu.Unlock()
		return fmt.Errorf("%w: gocronleader: Run is at work for this Elector already, and goes on: call it once", core.ErrInvalidConfig)
	}
	e.runs = true
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.runs = false
		e.mu.Unlock()
	}()
	c := e.cfg
	c.OnElected = func(ctx context.Context, until *core.TimeView) {
		l, _ := core.FromContext(ctx)
		e.mu.Lock()
		e.leads = l
		e.mu.Unlock()
		if e.cfg.OnElected != nil {
			e.cfg.OnElected(ctx, until)
		}
	}
	c.LeaderChanged = func(ctx context.Context, v entry.RaceEntry) {
		e.mu.Lock()
		e.leader = v.LeaderID
		e.mu.Unlock()
		if e.cfg.LeaderChanged != nil {
			e.cfg.LeaderChanged(ctx, v)
		}
	}
	return c.Acquire(ctx)
}

// IsLeader is nil while this instance leads, by its clocks and not by what it has
// heard; gocron then runs the job. Otherwise the error Is ErrNotLeader, and gocron
// skips it. It asks no store.
func (e *Elector) IsLeader(context.Context) error {
	e.mu.Lock()
	l, leader := e.leads, e.leader
	e.mu.Unlock()
	switch {
	case l != nil && l.Check() == nil:
		return nil
	case leader == "" || leader == e.cfg.LeaderID:
		return ErrNotLeader
	}
	return fmt.Errorf("%w: %q does", ErrNotLeader, leader)
}

// Bind returns a context for a job: it ends with ctx, or when this instance's
// leadership does, with the cause. Where it does not lead, it has ended already,
// with ErrNotLeader; where ctx is nil, with an error that Is core.ErrInvalidConfig. The
// cancel function releases it.
func (e *Elector) Bind(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		return ended(context.Background(), fmt.Errorf("%w: gocronleader: Bind was given a nil context: pass context.Background()", core.ErrInvalidConfig))
	}
	e.mu.Lock()
	l := e.leads
	e.mu.Unlock()
	if l != nil {
		return l.Bind(ctx)
	}
	return ended(ctx, ErrNotLeader)
}

// ended is a context that has ended, for that reason.
func ended(ctx context.Context, why error) (context.Context, context.CancelFunc) {
	bound, cancel := context.WithCancelCause(ctx)
	cancel(why)
	return bound, func() {}
}
