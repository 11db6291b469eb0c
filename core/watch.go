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
	// PollInterval is the pause between a read's answer, or what was made of it,
	// and the next read. 0 means a fifth of the term that the entry grants, at least
	// 500 ms and at most 5 s; 3 s until an entry was seen.
	PollInterval time.Duration
	// Wake makes it read now instead of at the next poll, at most once per 100 ms:
	// like Config.Wake. A value that is sent during a read is taken up after it,
	// if the channel has room to keep it. A closed channel is as good as nil.
	Wake <-chan struct{}
	// OnUnchanged, if it is not nil, is called for every read that found the version
	// yielded last: after errors it tells that reads work again, and what they find. It is
	// called between two steps of the loop, on its goroutine.
	OnUnchanged func()
}

// Watch calls cb for every version of the entry that it sees, the first one
// included, even when nothing is stored; renewals are versions too. It returns
// ctx's error when ctx ends, ErrBroken if the store refuses for good, and
// ErrInvalidConfig; other errors of the store are passed over. While cb runs
// nothing is read: what a slow one misses it is not told, it gets the newest.
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
// failed read as an error, after which it goes on: a version that stood before
// the errors is not yielded again after them, OnUnchanged tells of it. What is stored
// but is not an entry is an error at every read, ErrBadEntry, with its token;
// that nothing is stored is yielded anew where it has followed that.
//
// It ends with ctx (whose error it does not yield), with the loop, and after
// ErrInvalidConfig. It reads at most once per PollInterval and once more for each
// Wake, and no request lasts longer than five seconds or PollInterval, whichever
// is longer. Every loop over it begins afresh.
func (w WatchConfig) Updates(ctx context.Context) iter.Seq2[entry.RaceEntry, error] {
	return func(yield func(entry.RaceEntry, error) bool) {
		if err := errors.Join(w.validate(), contextFault(ctx)); err != nil {
			yield(*noEntry(), err)
			return
		}
		newWatch(w).follow(ctx, yield)
	}
}

func (w WatchConfig) validate() error {
	var faults []error
	if isNilPointer(w.Decider) {
		faults = append(faults, fmt.Errorf("%w: Decider is nil: there is no store to watch", ErrInvalidConfig))
	}
	if w.PollInterval < 0 || w.PollInterval > entry.MaxTermLength {
		faults = append(faults, fmt.Errorf("%w: PollInterval is %v, not between 0 and %v", ErrInvalidConfig, w.PollInterval, entry.MaxTermLength))
	}
	return errors.Join(faults...)
}

// watch is one loop over Updates.
type watch struct {
	WatchConfig
	keeper  *timekeeper
	poll    time.Duration
	sleeper sleeper
	// last is the version last yielded; a copy, because a decider may keep what it
	// handed out.
	last entry.RaceEntry
	seen bool
	// rubbish: since then something was stored that is not an entry.
	rubbish bool
}

func newWatch(w WatchConfig) *watch {
	if isNilPointer(w.Clock) {
		w.Clock = clocks.DefaultClock()
	}
	poll := w.PollInterval
	if poll == 0 {
		poll = pollInterval(defaultTermLength)
	}
	keeper := newTimekeeper(w.Clock)
	return &watch{WatchConfig: w, keeper: keeper, poll: poll, sleeper: newSleeper(w.Wake, keeper.sample())}
}

func (w *watch) follow(ctx context.Context, yield func(entry.RaceEntry, error) bool) {
	for ctx.Err() == nil {
		e, err := w.read(ctx)
		if ctx.Err() != nil {
			return
		}
		switch {
		case err != nil || w.isNew(&e):
			if !yield(e, err) {
				return
			}
		case w.OnUnchanged != nil:
			w.OnUnchanged()
		}
		w.sleeper.wait(ctx, w.Clock, w.keeper, w.poll)
	}
}

// read returns what is stored. With an error it returns no entry, or no more of it
// than its token.
func (w *watch) read(ctx context.Context) (entry.RaceEntry, error) {
	e, err := bounded(ctx, nil, w.Clock, max(5*time.Second, w.poll), w.Decider, callRead)
	none := *noEntry()
	switch readOutcome(e, err) {
	case OutcomeRead:
		return *e, nil
	case OutcomeBadEntry:
		w.rubbish = true
		if err == nil {
			err = unbelievable(e)
		}
		if e != nil {
			none.Token = e.Token
		}
	}
	if err == nil {
		err = errors.New("core: the decider answered a read with neither an entry nor an error")
	}
	return none, err
}

// isNew tells whether e is another version than the last, and notes it. An entry
// has an identity of its own; nothing has none, and is new after rubbish.
func (w *watch) isNew(e *entry.RaceEntry) bool {
	gone := w.rubbish && e.Absent()
	w.rubbish = false
	if w.seen && sameVersion(&w.last, e) && !gone {
		return false
	}
	w.last, w.seen = *e, true
	if w.PollInterval == 0 && e.TermLength > 0 { // 0: nothing is stored, or a form that tells no length
		w.poll = pollInterval(e.TermLength)
	}
	return true
}
