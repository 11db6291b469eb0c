package gocronleader

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// ErrSkipped: the slot is not this instance's to run. A *SkippedError says why.
var ErrSkipped = errors.New("gocronleader: the job is not run here")

// SkippedError is what AfterLockError hears when all is well and another
// instance runs the job, or has. It Is ErrSkipped.
type SkippedError struct {
	Job    string
	Result schedule.Result
}

func (e *SkippedError) Error() string { return fmt.Sprintf("%v: %s, %v", ErrSkipped, e.Job, e.Result) }

// Is makes every SkippedError an ErrSkipped.
func (*SkippedError) Is(target error) bool { return target == ErrSkipped }

// LockerConfig says where the slots of the jobs are kept, and what they are.
type LockerConfig struct {
	// Election is what the jobs' elections have in common; its Decider and
	// Memory are not used.
	Election core.Config
	// Decider returns the election of a job: an object or item whose name has
	// the job's in it. gocron's name of a job is that of its function unless
	// gocron.WithName gives it one, which all instances have to agree on. It is
	// called once for each job.
	Decider func(job string) core.RaceDecider
	// Slot is which run of a job a trigger is for: schedule.Every with the job's
	// period, or, for a cron expression, with the least time between two runs.
	// A slot of one run (At, Named) is refused: a job would run once in its life.
	// A job with another period takes another Locker, gocron.WithDistributedJobLocker.
	Slot schedule.Slot
	// OnFailure says what becomes of a slot whose job failed (in a Task) or whose
	// instance was killed.
	OnFailure schedule.Policy
}

// Locker is a gocron.Locker that locks a job once per slot. It is safe for
// concurrent use. Get one from NewLocker.
type Locker struct {
	cfg LockerConfig

	mu   sync.Mutex
	jobs map[string]*job
}

// job is what is known of one name.
type job struct {
	decider core.RaceDecider
	memory  *core.Memory
	lock    *lock // held by this instance
}

var _ gocron.Locker = (*Locker)(nil)

// NewLocker returns a locker for gocron.WithDistributedLocker or
// WithDistributedJobLocker. The error Is core.ErrInvalidConfig.
func NewLocker(cfg LockerConfig) (*Locker, error) {
	c := cfg.Election
	c.Decider = placeholder{} // the jobs' are not known yet
	faults := []error{schedule.Config{Election: c, OnFailure: cfg.OnFailure}.Validate()}
	if cfg.Decider == nil {
		faults = append(faults, fmt.Errorf("%w: Decider is nil: there is no store for the jobs' slots", core.ErrInvalidConfig))
	}
	switch {
	case cfg.Slot.IsZero():
		faults = append(faults, fmt.Errorf("%w: Slot is empty: use schedule.Every with the jobs' period", core.ErrInvalidConfig))
	case cfg.Slot.Name() != "" || !cfg.Slot.Time().IsZero():
		faults = append(faults, fmt.Errorf("%w: Slot is %v, which is one run and the same at every trigger: each job would run once in its life: use schedule.Every with the jobs' period", core.ErrInvalidConfig, cfg.Slot))
	default:
		faults = append(faults, cfg.Slot.Validate())
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Locker{cfg: cfg, jobs: map[string]*job{}}, nil
}

type placeholder struct{}

func (placeholder) ReadCurrent(context.Context) (*entry.RaceEntry, error) {
	return nil, core.ErrBroken
}

func (placeholder) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return nil, core.ErrBroken
}

// Lock takes the slot that the job has now. If it returns a Lock, gocron
// runs the job and unlocks. An error keeps the job from being run: it Is
// ErrSkipped if the slot was done before or another instance runs it, else it is
// schedule.Config.Begin's. It makes one read where there is nothing to
// do, and one write more where there is.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	j, err := l.job(key)
	if err != nil {
		return nil, err
	}
	c := schedule.Config{Election: l.cfg.Election, OnFailure: l.cfg.OnFailure}
	c.Election.Decider, c.Election.Memory = j.decider, j.memory
	run, res, err := c.Begin(ctx, l.cfg.Slot)
	switch {
	case err != nil:
		return nil, fmt.Errorf("gocronleader: %s: %w", key, err)
	case run == nil:
		return nil, &SkippedError{Job: key, Result: res}
	}
	held := &lock{locker: l, key: key, run: run}
	l.mu.Lock()
	j.lock = held
	l.mu.Unlock()
	return held, nil
}

func (l *Locker) job(key string) (*job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.jobs[key]
	if j == nil {
		d := l.cfg.Decider(key)
		if d == nil {
			return nil, fmt.Errorf("%w: Decider returned nil for the job %q", core.ErrInvalidConfig, key)
		}
		j = &job{decider: d, memory: new(core.Memory)}
		l.jobs[key] = j
	}
	return j, nil
}

// lock is a slot that this instance works on.
type lock struct {
	locker *Locker
	key    string
	run    *schedule.Run

	mu  sync.Mutex
	err error // what a Task made of it
}

// Unlock records the slot as done and resigns; as failed if a Task says so. gocron drops the
// error, so it is logged as well.
func (k *lock) Unlock(ctx context.Context) error {
	if ctx == nil { // the job is done, and gocron would drop an error
		ctx = context.Background()
	}
	k.locker.mu.Lock()
	if j := k.locker.jobs[k.key]; j.lock == k {
		j.lock = nil
	}
	k.locker.mu.Unlock()
	k.mu.Lock()
	failed := k.err
	k.mu.Unlock()
	_, err := k.run.Finish(ctx, failed)
	lost := errors.Is(err, core.ErrLeadershipLost) || errors.Is(err, core.ErrTermExpired)
	if err == nil || failed != nil && !lost { // gocron knows of the failure
		return nil
	}
	err = fmt.Errorf("gocronleader: %s: %w", k.key, err)
	if logger := k.locker.cfg.Election.Logger; logger != nil {
		logger.WarnContext(ctx, "gocron job: the slot may not be recorded", "job", k.key, "slot", k.run.Slot().String(), "error", err.Error())
	}
	return err
}
