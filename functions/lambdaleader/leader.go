package lambdaleader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/identity"
)

// Options say how invocations stand for election. nil is the zero Options.
type Options struct {
	// Wait is how long an invocation waits for its turn, but never longer than
	// until twice Margin before its deadline. 0: one attempt, without waiting.
	Wait time.Duration
	// Margin is what is kept of an invocation's time for leaving in order: the
	// handler's context ends that long before the deadline. It is also how long
	// after the deadline the term may end at most. It should be several times what
	// a request to the store takes. 0: 500 ms; 5 min at most, because it is
	// needed twice and more, and Lambda ends an invocation after 15 min.
	Margin time.Duration
	// FailFollowers makes the invocation of a follower fail with a *FollowerError,
	// so that the platform, or whoever called, tries again. Otherwise it succeeds
	// with the zero result: it is skipped. WrapOr overrules it.
	FailFollowers bool
	// Keep lets the leadership stay with the sandbox from one invocation to the
	// next.
	Keep bool
}

// maxMargin is a third of the longest time that an invocation can have, which is
// 15 min. Source: "Configure Lambda function timeout", AWS Lambda's developer guide.
const maxMargin = 5 * time.Minute

// Leader stands for one election on behalf of the invocations of one process.
// It is safe for concurrent use: of invocations that run at the same time, one
// leads. Get one from New.
type Leader struct {
	config core.Config
	opts   Options
	clock  clocks.Clock

	// closing ends when Shutdown is called.
	closing context.Context
	close   context.CancelCauseFunc

	// slot is taken by the invocation that stands for election or leads.
	slot chan struct{}
	kept *tenure // belongs to whoever has the slot

	mu     sync.Mutex
	id     string
	leader *core.Leadership // of the invocation that leads now, for the others to tell
}

// New returns a Leader that campaigns as config says. What an invocation decides
// is not asked of config: LeaderID may be empty (identity.New in the first
// invocation), ManualRenew is set, TermLength is the longest term, and
// WaitAtMost and Acquire's callbacks have to be empty (Options.Wait, the
// handler). Where TermLength is cut because of a deadline, a RenewInterval that
// is then too long is half the term.
//
// Every fault is in the error, which Is core.ErrInvalidConfig. Nothing is sent,
// and nothing is drawn at random, so it is fit for a snapshot.
func New(config core.Config, opts *Options) (*Leader, error) {
	l := &Leader{config: config, slot: make(chan struct{}, 1), id: config.LeaderID}
	if opts != nil {
		l.opts = *opts
	}
	if err := l.validate(); err != nil {
		return nil, err
	}
	l.opts.Margin = cmp.Or(l.opts.Margin, 500*time.Millisecond)
	l.config.TermLength = cmp.Or(config.TermLength, 15*time.Second)
	l.config.ManualRenew = true
	if l.config.Memory == nil {
		l.config.Memory = new(core.Memory)
	}
	if l.config.Clock == nil {
		l.config.Clock = clocks.DefaultClock()
	}
	l.clock = l.config.Clock
	l.closing, l.close = context.WithCancelCause(context.Background())
	return l, nil
}

func (l *Leader) validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", core.ErrInvalidConfig, fmt.Sprintf(format, args...)))
	}
	c := l.config
	c.LeaderID = cmp.Or(c.LeaderID, "drawn in the first invocation")
	if err := c.Validate(); err != nil {
		faults = append(faults, err)
	}
	if c.WaitAtMost != 0 {
		fault("WaitAtMost is %v: say in lambdaleader's Options.Wait how long an invocation may wait", c.WaitAtMost)
	}
	if c.OnElected != nil || c.OnOusting != nil {
		fault("OnElected and OnOusting are never called here: the work is what is wrapped")
	}
	if l.opts.Wait < 0 || l.opts.Margin < 0 {
		fault("Options.Wait %v or Options.Margin %v is negative", l.opts.Wait, l.opts.Margin)
	}
	if l.opts.Margin > maxMargin {
		fault("Options.Margin is %v, more than %v: it is needed twice and more before an invocation's deadline, and Lambda gives an invocation 15 min at most, so there would be little time to work, or none; several times what a request to the store takes will do", l.opts.Margin, maxMargin)
	}
	return errors.Join(faults...)
}

// LeaderID is the name that this Leader campaigns under. Unless config had one it
// is drawn at the first call, which the first invocation makes.
func (l *Leader) LeaderID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id == "" {
		l.id = identity.New()
	}
	return l.id
}

// setLeading notes who leads in this process; nil: nobody.
func (l *Leader) setLeading(lead *core.Leadership) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leader = lead
}

// busy is what an invocation hears while another one of this process has the slot.
func (l *Leader) busy() *FollowerError {
	id := l.LeaderID()
	l.mu.Lock()
	lead := l.leader
	l.mu.Unlock()
	held := &core.HeldError{Reason: "another invocation of this process is at work"}
	held.Current.LeaderID = id
	if lead != nil {
		held.Current, held.RetryAfter = lead.Entry(), lead.TimeLeft()
	}
	return &FollowerError{Held: held}
}
