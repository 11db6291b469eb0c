package legrpc

import (
	"context"
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
	wake   chan struct{} // has room for one ResolveNow
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex // held while the channel is told: gRPC calls nothing back that takes it
	closed  bool
	channel channel
	news    news
	// until is when the term of the last version seen is over; the past while nobody leads.
	until *core.TimeView
	end   time.Time // the same, on Clock
	timer clocks.StopTimer
	// looks at the clocks since the version came, one per tick, and of them those
	// since the last read was begun.
	tick         time.Duration
	looks, quiet int
}

// follow starts a resolver. gRPC closes it.
func follow(opts Options, name string, cc resolver.ClientConn, build resolver.BuildOptions) *following {
	ctx, cancel := context.WithCancel(context.Background())
	log := opts.Logger.With(slog.String("election", name))
	f := &following{
		opts: opts, cancel: cancel,
		wake:    make(chan struct{}, 1),
		until:   core.NewTimeView(opts.Clock),
		channel: channel{cc: cc, name: name, log: log, noConfig: build.DisableServiceConfig},
		news:    news{log: log},
	}
	store := &opener{ctx: ctx, name: name, open: opts.Open, begins: f.asking, turn: make(chan struct{}, 1)}
	watch := core.WatchConfig{Decider: store, Clock: opts.Clock, PollInterval: opts.PollInterval, Wake: f.wake, OnUnchanged: f.unchanged}
	f.done.Go(func() {
		for e, err := range watch.Updates(ctx) {
			if err != nil {
				f.failed(err)
				continue
			}
			f.told(&e)
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

// asking: a read begins.
func (f *following) asking() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.news.unanswered, f.quiet = true, 0
}

// told: a read has brought a new version.
func (f *following) told(e *entry.RaceEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	addrs, left, why := destination(e)
	f.news.version(e, why)
	if len(addrs) == 0 {
		f.channel.adopt(e)
		f.leave()
		return
	}
	if why != nil {
		f.channel.warn("an address of the leader is of no use", why)
	}
	f.end = f.opts.Clock.Now().Add(left)
	f.until.Set(f.end)
	f.tick, f.looks = left/8, 0
	if e.TermLength > 0 { // as often as a leader looks
		f.tick = min(f.tick, e.TermLength/8)
	}
	f.arm()
	f.channel.goTo(addrs, e)
}

// unchanged: a read has found the version that is known.
func (f *following) unchanged() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.news.same()
	if !f.until.ValueInFuture() {
		f.leave()
	}
}

// failed: the store did not answer, or with what is not an entry. That says nothing
// about the leader, whose term goes on.
func (f *following) failed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.news.failure(err)
	if !f.until.ValueInFuture() {
		f.leave()
	}
}

// leave takes the addresses from the channel, and says what is known.
func (f *following) leave() {
	f.stopTimer()
	f.until.Set(time.Time{})
	f.channel.goNowhere(f.news.why())
}

// arm sets the next look at the clocks: at the end of the term, and in between, in
// case the host was asleep or its clock was set.
func (f *following) arm() {
	f.stopTimer()
	look := min(f.tick, f.end.Sub(f.opts.Clock.Now()))
	f.timer = f.opts.Clock.AfterFunc(max(look, time.Millisecond), f.look)
}

// look looks at the clocks. A leader is not left because nobody has asked about it:
// where PollInterval is that long, a read is due when half of the term has
// passed, and at every further quarter.
func (f *following) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.timer == nil {
		return
	}
	f.looks, f.quiet = f.looks+1, f.quiet+1
	if f.until.ValueInFuture() {
		if f.looks >= 4 && f.quiet >= 2 {
			f.ResolveNow(resolver.ResolveNowOptions{})
		}
		f.arm()
		return
	}
	// Fewer looks than fit in a term: the host slept, and what is known is old.
	if f.looks < 8 || f.quiet > 2 {
		f.news.unanswered = true
		f.ResolveNow(resolver.ResolveNowOptions{})
	}
	f.leave()
}

func (f *following) stopTimer() {
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
}
