package health

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/adapters/internal/book"
	"github.com/cloudelect/cloudelect/core"
)

// ErrStarting is what Ready returns before the store's first answer.
var ErrStarting = errors.New("health: starting: the store has not answered yet")

// Options are what a Health can do without.
type Options struct {
	// Term is the Config's TermLength; 0: core's default. It is for the defaults
	// of the others only.
	Term time.Duration
	// Tolerance is for how long the store may give no answer; 0: Term. The longest wait
	// between two reads that was seen comes on top of it, so PollInterval does not matter.
	Tolerance time.Duration
	// RenewTolerance is how old a leader's last confirmed write may become before
	// Ready fails; 0: two thirds of the term that it was granted, when two renewals
	// are missing by default. Set it to nearly the term where RenewInterval is half
	// of it, and with ManualRenew.
	RenewTolerance time.Duration
	// Clock is the Clock of the Config; nil: the system's.
	Clock clocks.Clock
}

// Health keeps the book of one candidate for one election. It is safe for
// concurrent use; events have to come in order, as Config.OnEvent gets them. Get
// one from New.
type Health struct {
	opts  Options
	clock clocks.Clock

	mu   sync.Mutex
	book book.Book
	name string // the LeaderID
	// campaigning: the last that was heard was of a campaign.
	campaigning bool
	started     bool          // the store has answered
	heard       time.Time     // the latest request that ended, well or not
	answered    time.Time     // the latest that the store answered, or the end of a reign
	wait        time.Duration // the longest that it waited for its next read
	err         error         // of the latest request
}

const defaultTerm = 15 * time.Second // core.Config says so

// New returns a Health that is starting; nil opts are fine. An error Is
// core.ErrInvalidConfig.
func New(opts *Options) (*Health, error) {
	h := &Health{}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.Term < 0 || h.opts.Tolerance < 0 || h.opts.RenewTolerance < 0 {
		return nil, fmt.Errorf("health: %w: Term, Tolerance and RenewTolerance must not be negative", core.ErrInvalidConfig)
	}
	if h.opts.Term == 0 {
		h.opts.Term = defaultTerm
	}
	if h.opts.Tolerance == 0 {
		h.opts.Tolerance = h.opts.Term
	}
	if h.clock = h.opts.Clock; h.clock == nil {
		h.clock = clocks.DefaultClock()
	}
	return h, nil
}

// OnEvent notes an event: give it to core.Config.OnEvent, or call it from there. It
// does not block.
func (h *Health) OnEvent(e core.Event) {
	if h == nil || h.clock == nil {
		return
	}
	now := h.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.name = e.LeaderID
	h.book.Note(&e, now)
	switch e.Kind {
	case core.EventRequest:
		h.heard, h.err, h.campaigning = now, e.Err, e.Op == core.OpRead || e.Op == core.OpAcquire
		switch e.Outcome {
		case core.OutcomeRead, core.OutcomeStored, core.OutcomeLost:
			h.started, h.answered, h.err = true, now, nil
		case core.OutcomeBadEntry:
			h.started, h.answered = true, now
		}
	case core.EventWaiting:
		h.wait = max(h.wait, e.Wait)
	case core.EventEnded:
		// A follower from now on. The next campaign begins when the work has stopped.
		h.answered, h.campaigning = now, false
	case core.EventResigned, core.EventNotResigned:
		h.campaigning = false // a look that belonged to it was none of a campaign
	}
}

// Ready tells whether the candidate can do its part; nil, ErrStarting or the reason
// in one line. See the package's documentation.
func (h *Health) Ready() error { return h.look().ready }

// Live tells whether to go on; nil, or the reason, in one line, why a restart could
// help. See the package's documentation.
func (h *Health) Live() error { return h.look().live }

// Check is Live, as a probe of controller-runtime and of k8s.io/apiserver has it.
func (h *Health) Check(*http.Request) error { return h.Live() }

// Name is what k8s.io/apiserver calls the check: "election".
func (*Health) Name() string { return "election" }

// sight is one look.
type sight struct {
	now         time.Time
	ready, live error
	leading     bool
	name        string
	token       int64
	term, left  time.Duration
	silent      time.Duration // since the store's last answer
	started     bool
	err         error
}

func (h *Health) look() sight {
	if h == nil || h.clock == nil {
		return sight{ready: ErrStarting, silent: -1}
	}
	now := h.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	s := sight{now: now, name: h.name, token: h.book.Token(), term: h.book.Term(), left: h.book.Left(now),
		leading: h.book.Leads(), started: h.started, err: h.err, silent: -1}
	if h.started {
		s.silent = book.Elapsed(h.answered, now)
	}
	if s.leading {
		h.leader(&s)
	} else {
		h.follower(&s)
	}
	return s
}

// leader looks at a candidate that leads by its own book.
func (h *Health) leader(s *sight) {
	age, tolerance := h.book.Age(s.now), h.opts.RenewTolerance
	if tolerance == 0 {
		tolerance = s.term * 2 / 3
	}
	if age > tolerance {
		s.ready = fmt.Errorf("health: leading, and not renewed for %v of a term of %v%s", rough(age), s.term, said(s.err))
	}
	if over := age - s.term; over > h.opts.Tolerance {
		s.live = fmt.Errorf("health: leading by its own book, though the term has been over for %v: this process was stopped, or its watchdog hangs", rough(over))
	}
}

// follower looks at one that does not.
func (h *Health) follower(s *sight) {
	switch {
	case !h.started:
		s.ready = ErrStarting
		if s.err != nil {
			s.ready = fmt.Errorf("%w%s", ErrStarting, said(s.err))
		}
	case s.silent > h.wait+h.opts.Tolerance:
		s.ready = fmt.Errorf("health: not leading, and no answer from the store for %v%s", rough(s.silent), said(s.err))
	}
	if idle := book.Elapsed(h.heard, s.now); h.campaigning && idle > h.wait+h.opts.Tolerance {
		s.live = fmt.Errorf("health: no request to the store for %v, not even one that failed: the campaign hangs, or has returned", rough(idle))
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("; the latest request: %v", err)
}

func rough(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
