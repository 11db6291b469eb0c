package gocronleader

import (
	"context"
	"errors"

	"github.com/go-co-op/gocron/v2"

	"github.com/cloudelect/cloudelect/functions/schedule"
)

// errNoReturn is how a job ended that panicked or ended its goroutine.
var errNoReturn = errors.New("gocronleader: the job did not return")

// errNoLock: the job was begun without Lock.
var errNoLock = errors.New("gocronleader: the job runs without its lock: give the scheduler this Locker, and the job the Task's name with gocron.WithName")

// errNoWork: Task was given nothing to do.
var errNoWork = errors.New("gocronleader: Task was given no function to run")

// Task makes f a task for the job with this name (gocron.WithName) under this
// Locker. Its context ends when gocron's does or when the leadership is lost, and an error,
// or a panic, leaves the slot as failed: with schedule.Retry the next instance
// that is triggered in this slot runs it again. f gets the Run for its slot, its
// Leadership and its state. Errors go to gocron's listeners as usual.
//
// Without Task, every job that ends counts as done.
func (l *Locker) Task(name string, f func(ctx context.Context, r *schedule.Run) error) gocron.Task {
	return gocron.NewTask(func(ctx context.Context) error {
		l.mu.Lock()
		var held *lock
		if j := l.jobs[name]; j != nil {
			held = j.lock
		}
		l.mu.Unlock()
		if held == nil {
			return errNoLock
		}
		if f == nil {
			held.ended(errNoWork)
			return errNoWork
		}
		held.ended(errNoReturn)
		bound, release := held.run.Leadership().Bind(ctx)
		defer release()
		err := f(bound, held.run)
		held.ended(err)
		return err
	})
}

func (k *lock) ended(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
}
