package core

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// WatchConfig follows an election without taking part in it: it only reads.
type WatchConfig struct {
	Decider RaceDecider
	// Clock is where all time comes from; nil means the system's.
	Clock clocks.Clock
	// PollInterval is how often the entry is read; 0 means a fifth of the term
	// that the entry grants, at least 500 ms and at most 5 s.
	PollInterval time.Duration
}

// Watch calls cb for every version of the entry that it sees, the first one
// included, even when nothing is stored; renewals are versions too. It returns
// ctx's error when ctx ends, ErrBroken if the store refuses for good, and
// ErrInvalidConfig; other errors of the store are passed over.
func (w WatchConfig) Watch(ctx context.Context, cb func(ctx context.Context, e entry.RaceEntry)) error {
	if cb == nil {
		return fmt.Errorf("%w: Watch needs a callback", ErrInvalidConfig)
	}
	for e, err := range w.Updates(ctx) {
		switch {
		case err == nil:
			cb(ctx, e)
		case errors.Is(err, ErrBroken), errors.Is(err, ErrInvalidConfig):
			return err
		}
	}
	return ctx.Err()
}

// Updates yields every version of the entry that it sees, once, and every
// failed read as an error, after which it goes on. It ends with ctx (whose
// error it does not yield), with the loop, and after ErrInvalidConfig. It reads
// at most once per PollInterval, and no request lasts longer than five seconds
// or PollInterval, whichever is longer.
func (w WatchConfig) Updates(ctx context.Context) iter.Seq2[entry.RaceEntry, error] {
	return func(yield func(entry.RaceEntry, error) bool) {
		none := *noEntry()
		if isNilPointer(w.Decider) {
			yield(none, fmt.Errorf("%w: Decider is nil: there is no store to watch", ErrInvalidConfig))
			return
		}
		if w.PollInterval < 0 || w.PollInterval > entry.MaxTermLength {
			yield(none, fmt.Errorf("%w: PollInterval is %v, not between 0 and %v", ErrInvalidConfig, w.PollInterval, entry.MaxTermLength))
			return
		}
		if isNilPointer(w.Clock) {
			w.Clock = clocks.DefaultClock()
		}
		w.follow(ctx, yield, none)
	}
}

func (w WatchConfig) follow(ctx context.Context, yield func(entry.RaceEntry, error) bool, none entry.RaceEntry) {
	last, seen := &none, false
	poll := w.PollInterval
	if poll == 0 {
		poll = pollInterval(defaultTermLength)
	}
	for ctx.Err() == nil {
		e, err := bounded(ctx, nil, w.Clock, max(5*time.Second, poll), w.Decider, callRead)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && e == nil:
			err = fmt.Errorf("core: the decider answered a read with neither an entry nor an error")
			fallthrough
		case err != nil:
			bad := none
			if e != nil {
				bad = *e
			}
			if !yield(bad, err) {
				return
			}
		case !seen || !sameVersion(last, e):
			last, seen = e, true
			if w.PollInterval == 0 && !e.Absent() {
				poll = pollInterval(e.TermLength)
			}
			if !yield(*e, nil) {
				return
			}
		}
		pause(ctx, w.Clock, poll)
	}
}
