package k8slock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Lock is a resourcelock.Interface over a decider. Get one from New, and give it
// to one elector: two electors on one Lock are one candidate to the store, and
// both would lead. It is safe for concurrent use.
type Lock struct {
	decider  core.RaceDecider
	identity string
	opts     Options
	time     *core.Stopwatch

	// turn is held by whoever talks to the store: one request at a time.
	turn chan struct{}

	mu sync.Mutex // for what follows; never held during a request
	knowledge
	reign
	wrote       time.Duration // when the last write was over (Reading.AtMost), for pace
	haveWritten bool
}

var _ resourcelock.Interface = (*Lock)(nil)

// New returns a lock on the decider's election. The identity names this process
// and no other, in 1024 bytes of UTF-8 at most. Nil opts are fine. The error Is
// core.ErrInvalidConfig and names every fault.
func New(decider core.RaceDecider, identity string, opts *Options) (*Lock, error) {
	if null.Is(decider) {
		return nil, validate(nil, identity, ptr(opts.filled(nil)))
	}
	l := &Lock{decider: decider, identity: identity, opts: opts.filled(decider), turn: make(chan struct{}, 1)}
	if err := validate(decider, identity, &l.opts); err != nil {
		return nil, err
	}
	l.time = core.NewStopwatch(l.opts.Clock)
	l.number = entry.NoElections
	return l, nil
}

func ptr(o Options) *Options { return &o }

// Identity is the one that New was given.
func (l *Lock) Identity() string { return l.identity }

// Describe names the lock in client-go's log lines.
func (l *Lock) Describe() string { return "k8slock " + l.opts.Name }

// RecordEvent passes client-go's events to Options.OnEvent. "stopped leading"
// ends the reign: what is won after it has a new fencing token.
func (l *Lock) RecordEvent(event string) {
	if event == "stopped leading" {
		l.mu.Lock()
		l.lose()
		l.mu.Unlock()
	}
	if l.opts.OnEvent != nil {
		l.opts.OnEvent(event)
	}
}

// Get reads the election. The error Is NotFound (apimachinery's errors) where
// nothing is stored, so that client-go creates it; it Is core.ErrBadEntry where
// something is that no program of ours wrote, which then is never overwritten (where
// another library did, in a form of its own, the error names it). A
// lease of this lock's identity that this lock did not write is shown as held by
// "<identity> (another process)", unless Options.Reclaim vouches for it. A failed read
// is repeated where client-go would not: before a release.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.take(ctx); err != nil {
		return nil, nil, err
	}
	defer l.give()
	e, own, err := l.readPatiently(ctx)
	if err != nil {
		return nil, nil, err
	}
	holder := e.LeaderID
	if holder == l.identity && !own && !l.reclaims(e) {
		holder += " (another process)"
	}
	r := recordOf(e, holder, own)
	b, err := raw(r, e)
	if err != nil {
		return nil, nil, fmt.Errorf("k8slock: %s: the record cannot be shown: %w", l.opts.Name, err)
	}
	return r, b, nil
}

// reclaims tells whether e may be taken over because Options.Reclaim says so.
func (l *Lock) reclaims(e *entry.RaceEntry) bool {
	return l.opts.Reclaim && e.LeaderID == l.identity && !e.Held
}

// take waits for the turn to talk to the store.
func (l *Lock) take(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		l.mu.Lock()
		l.fail(ctx)
		l.mu.Unlock()
		return fmt.Errorf("k8slock: %s: another request is on its way: %w", l.opts.Name, givenUp(ctx))
	}
}

func (l *Lock) give() { <-l.turn }
