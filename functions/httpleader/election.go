package httpleader

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
)

// Options are what an Election can do without.
type Options struct {
	// Forward: requests that reach a follower are passed on to the leader's
	// HostPort, once; a request that was passed on is never passed on again. It
	// needs a HostPort where the other replicas reach this one: ":8080" and
	// "0.0.0.0:8080", where a server listens, are refused. The leader gets the query
	// as it came, and this hop in X-Forwarded-For, and in Forwarded if that is there.
	Forward bool
	// Scheme is how the leader is reached: "http", which is the default, or "https".
	Scheme string
	// Transport carries what is passed on; nil: one of its own like
	// http.DefaultTransport, but without a proxy.
	Transport http.RoundTripper
	// HideLeader keeps the leader's name and address out of answers to clients,
	// who may be strangers. StateHandler still shows them.
	HideLeader bool
	// LeaderStale is for how long a leader may be without a confirmed renewal
	// before HealthHandler fails; 0: RenewInterval + TermLength/3.
	LeaderStale time.Duration
	// FollowerStale is for how long a follower may be without an answer of
	// the store before HealthHandler fails; 0: three polls, TermLength at least.
	FollowerStale time.Duration
}

// Election is this process's candidacy, and what it knows of the leader. It is
// safe for concurrent use. Get one from New.
type Election struct {
	cfg   core.Config
	opts  Options
	clock clocks.Clock
	proxy http.Handler
	idle  func() // closes idle connections of a transport of ours

	mu      sync.Mutex
	reign   *reign // while this process leads
	seen    sight
	running bool  // Run is
	ended   error // why Run returned
}

// reign is a leadership and the requests that are served under it.
type reign struct {
	*core.Leadership
	serving sync.WaitGroup // Add under Election.mu, and only while it is the current one
}

// New returns the candidate that cfg describes; nil opts are fine. The error
// Is core.ErrInvalidConfig, also for ManualRenew and WaitAtMost, which Run has no use
// for. Call Run to campaign.
func New(cfg core.Config, opts *Options) (*Election, error) {
	e := &Election{cfg: cfg, clock: cfg.Clock, idle: func() {}}
	if opts != nil {
		e.opts = *opts
	}
	if e.clock == nil {
		e.clock = clocks.DefaultClock()
	}
	if err := errors.Join(cfg.Validate(), e.opts.complete(cfg)); err != nil {
		return nil, err
	}
	e.seen = newSight(e.clock.Now())
	e.proxy = e.newProxy()
	return e, nil
}

// complete checks the options, and fills in their defaults.
func (o *Options) complete(cfg core.Config) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{core.ErrInvalidConfig}, args...)...))
	}
	if o.LeaderStale < 0 || o.FollowerStale < 0 {
		fault("LeaderStale and FollowerStale must not be negative")
	}
	if o.Scheme == "" {
		o.Scheme = "http"
	}
	if o.Scheme != "http" && o.Scheme != "https" {
		fault("Scheme is %q, neither http nor https", o.Scheme)
	}
	if o.Forward && len(cfg.HostPort) == 0 {
		fault("Forward needs a HostPort, where the other replicas reach this one")
	}
	if o.Forward {
		for _, hp := range cfg.HostPort {
			if why := forwardable(hp); why != nil {
				fault("HostPort %q cannot be forwarded to: %v", hp, why)
			}
		}
	}
	if cfg.ManualRenew {
		fault("ManualRenew leaves renewing to the caller, but here nobody would renew: every reign would end with its first term. Who campaigns without Run sets it in what Config returns")
	}
	if cfg.WaitAtMost != 0 {
		fault("WaitAtMost is %v: it has no meaning here, because Run campaigns until its context ends. Who campaigns without Run sets it in what Config returns", cfg.WaitAtMost)
	}
	term := termLength(cfg)
	if o.LeaderStale == 0 {
		o.LeaderStale = renewInterval(cfg) + term/3
	}
	if o.FollowerStale == 0 {
		o.FollowerStale = max(3*pollInterval(cfg), term)
	}
	return errors.Join(faults...)
}

// Run campaigns, serves while it leads, and campaigns again, until ctx ends or the
// store is broken: see core.Config.Acquire, which it calls with Config. Before it
// returns it waits for the requests that are served under its reign, and resigns.
// Shut the server down after it has returned or with ctx. Afterwards it may be called
// again; while it runs, another call returns an error that Is
// core.ErrInvalidConfig, and changes nothing.
func (e *Election) Run(ctx context.Context) error {
	e.mu.Lock()
	if e.running {
		e.mu.Unlock()
		return fmt.Errorf("%w: httpleader: Run is at work for this Election already, and goes on: call it once", core.ErrInvalidConfig)
	}
	e.running, e.ended = true, nil
	e.mu.Unlock()
	err := e.Config().Acquire(ctx)
	e.mu.Lock()
	e.running, e.ended = false, err
	e.mu.Unlock()
	e.idle()
	return err
}

// Config is the Config that was given to New with its hooks plugged in, for those
// who campaign by themselves. Acquire needs nothing else; after Campaign or
// TryAcquire, and inside RunAsLeader, call Lead. OnElected and OnEvent of
// the given Config are still called.
func (e *Election) Config() core.Config {
	c := e.cfg
	c.OnElected = func(ctx context.Context, until *core.TimeView) {
		if l, ok := core.FromContext(ctx); ok {
			defer e.Lead(l)()
		}
		if e.cfg.OnElected != nil {
			e.cfg.OnElected(ctx, until)
		}
		<-ctx.Done()
	}
	c.OnEvent = func(ev core.Event) {
		e.note(ev)
		if e.cfg.OnEvent != nil {
			e.cfg.OnEvent(ev)
		}
	}
	return c
}

// Lead makes the process serve by l from now on. The function that it returns ends that,
// and waits for the requests that are being served: call it before Resign. A nil l
// changes nothing.
func (e *Election) Lead(l *core.Leadership) (stop func()) {
	if l == nil {
		return func() {}
	}
	r := &reign{Leadership: l}
	e.mu.Lock()
	e.reign = r
	e.mu.Unlock()
	return func() {
		e.mu.Lock()
		if e.reign == r {
			e.reign = nil
		}
		e.mu.Unlock()
		r.serving.Wait()
	}
}

// enter begins a request that the leader serves; nil if this process does not lead.
func (e *Election) enter() *reign {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.reign
	if r == nil || r.Check() != nil {
		return nil
	}
	r.serving.Add(1)
	return r
}
