package legrpc

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"
	"google.golang.org/grpc/resolver"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// following is a resolver: one channel that follows one election.
type following struct {
	opts   Options
	log    *slog.Logger
	wake   chan struct{} // has room for one ResolveNow
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex // held while the channel is told: gRPC calls nothing back that takes it
	closed  bool
	channel channel
	// until is when the term of the last version seen is over; the past while nobody leads.
	until *core.TimeView
	end   time.Time // the same, on Clock
	term  time.Duration
	timer clocks.StopTimer // looks at the clocks while somebody leads
	// leader is who led at last, and failure what the store said since, if not an entry.
	leader  string
	failure error
}

// follow starts a resolver. gRPC closes it.
func follow(opts Options, name string, cc resolver.ClientConn, build resolver.BuildOptions) *following {
	ctx, cancel := context.WithCancel(context.Background())
	log := opts.Logger.With(slog.String("election", name))
	f := &following{
		opts: opts, log: log, cancel: cancel,
		wake:    make(chan struct{}, 1),
		until:   core.NewTimeView(opts.Clock),
		channel: channel{cc: cc, name: name, log: log, noConfig: build.DisableServiceConfig},
	}
	store := &opener{ctx: ctx, name: name, open: opts.Open, turn: make(chan struct{}, 1)}
	watch := core.WatchConfig{Decider: store, Clock: opts.Clock, PollInterval: opts.PollInterval, Wake: f.wake}
	f.done.Go(func() {
		for e, err := range watch.Updates(ctx) {
			f.told(&e, err)
		}
	})
	return f
}

// ResolveNow makes it read at once. It never blocks.
func (f *following) ResolveNow(resolver.ResolveNowOptions) {
	select {
	case f.wake <- struct{}{}:
	default: // a read is due already
	}
}

// Close ends it, and returns when its goroutine has ended.
func (f *following) Close() {
	f.cancel()
	f.done.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.stopTimer()
}

// told takes in what a read brought.
func (f *following) told(e *entry.RaceEntry, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.failed(err)
		return
	}
	f.failure = nil
	if err := leads(e); err != nil {
		f.nobody(err)
		return
	}
	f.leader, f.term = e.LeaderID, e.TermLength
	addrs, err := addresses(e)
	left := remaining(e)
	switch {
	case len(addrs) == 0:
		f.nobody(err)
		return
	case left <= 0:
		f.nobody(fmt.Errorf("the term of %q is over, by the store's own clock", e.LeaderID))
		return
	case err != nil:
		f.channel.warn("an address of the leader is of no use", err)
	}
	now := f.opts.Clock.Now()
	f.end = now.Add(left)
	f.until.Set(f.end)
	f.arm()
	f.channel.goTo(addrs, e)
}

// failed: the store did not answer, or with what is not an entry. That says nothing
// about the leader, whose term goes on.
func (f *following) failed(err error) {
	if f.failure == nil {
		f.channel.warn("the election cannot be read", err)
	}
	f.failure = err
	switch {
	case f.until.ValueInFuture():
	case f.leader == "":
		f.nobody(fmt.Errorf("the leader is not known: %w", err))
	default:
		f.lapsed()
	}
}

// nobody takes the addresses from the channel.
func (f *following) nobody(why error) {
	f.stopTimer()
	f.until.Set(time.Time{})
	f.channel.goNowhere(why)
}

// lapsed: nothing new was seen for a whole term.
func (f *following) lapsed() {
	if f.failure != nil {
		f.nobody(fmt.Errorf("the term of %q is over, and who leads now is not known: %w", f.leader, f.failure))
		return
	}
	f.nobody(fmt.Errorf("the term of %q is over, and nobody has followed", f.leader))
}

// arm sets the next look at the clocks: at the end of the term, and in between as
// often as a leader looks, in case the host was asleep or its clock was set.
func (f *following) arm() {
	f.stopTimer()
	look := f.end.Sub(f.opts.Clock.Now())
	if f.term > 0 {
		look = min(look, f.term/8)
	}
	f.timer = f.opts.Clock.AfterFunc(max(look, time.Millisecond), f.look)
}

func (f *following) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed || f.timer == nil:
	case f.until.ValueInFuture():
		f.arm()
	default:
		f.lapsed()
	}
}

func (f *following) stopTimer() {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
}
