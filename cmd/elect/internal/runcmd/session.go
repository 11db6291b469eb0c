package runcmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
	"github.com/cloudelect/cloudelect/core"
)

// session is one `elect run`.
type session struct {
	options
	env     *cliutil.Env
	command []string
	path    string
	signals chan os.Signal
	sent    *dated
	renewed chan string // nonces of confirmed writes, the newest only
	story   story
	asked   int // how often elect was asked to end
}

func run(ctx context.Context, env *cliutil.Env, o options, command []string) error {
	path, err := findCommand(command[0])
	if err != nil {
		return err
	}
	store, err := env.Open(ctx, o.store)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := o.fits(store.Decider); err != nil {
		return err
	}
	if o.id == "" {
		o.id = defaultID()
	}
	s := &session{
		options: o, env: env, command: command, path: path,
		signals: make(chan os.Signal, 16),
		sent:    &dated{RaceDecider: store.Decider},
		renewed: make(chan string, 1),
	}
	defer catch(s.signals)()
	l, cancel, err := s.campaign(ctx, s.config())
	if err != nil {
		return err
	}
	defer cancel()
	return s.lead(ctx, l, store.URL)
}

func (s *session) config() core.Config {
	told := teller{env: s.env, once: s.once}
	cfg := core.Config{
		LeaderID: s.id, Decider: s.sent.decider(), Clock: s.env.HostClock(),
		TermLength: s.term, PollInterval: s.poll, RenewInterval: s.renew,
		MinHold: s.minHold, WaitAtMost: s.wait,
		OnEvent: func(e core.Event) {
			told.hear(e)
			s.story.hear(e)
			if e.Kind == core.EventRenewed {
				s.confirm(e.Entry.Nonce)
			}
		},
	}
	if s.verbose {
		cfg.Logger = slog.New(&oncePerChange{Handler: slog.NewTextHandler(s.env.Stderr, nil), state: new(logged)})
	}
	return cfg
}

// confirm passes a confirmed write to the goroutine that talks to the guard. One
// that was not fetched yet is out of date.
func (s *session) confirm(nonce string) {
	for {
		select {
		case s.renewed <- nonce:
			return
		default:
		}
		select {
		case <-s.renewed:
		default:
		}
	}
}

// lead runs COMMAND under a guard, and resigns when its group is gone.
func (s *session) lead(ctx context.Context, l *core.Leadership, url string) error {
	token := strconv.FormatInt(l.FencingToken(), 10)
	g, err := guard.Start(s.env.Executable, s.path, s.command, environment(s.id, token, url))
	if err != nil {
		s.resign(l)
		return cliutil.Exit(cliutil.ExitInternal, "COMMAND was not started: %w: see to the limits of this system, then try again", err)
	}
	defer g.Close()
	r := &reign{session: s, l: l, guard: g, tty: openTerminal()}
	defer r.tty.close()
	r.extend(l.Entry().Nonce)
	out := r.watch(ctx)
	r.tty.back()
	g.Close()
	lost := r.over()
	if out.remains {
		return cliutil.Exit(cliutil.ExitInternal, "processes of COMMAND's group %d could not be killed:"+
			" elect did not resign, the term runs out: end them by hand", g.PGID())
	}
	s.resign(l) // and every event of the reign has been told
	return out.verdict(lost, reasons{found: s.story.found(), failed: s.story.failed(), frozen: r.frozenLong(out)})
}

// outcome is how COMMAND and its group ended.
type outcome struct {
	status  int
	failed  *guard.Failure
	why     guard.Reason
	sent    guard.Reading // before the last write whose term counted when the group was stopped
	over    bool          // the term was, before the group was gone
	remains bool          // the group has processes left
	guard   bool          // the guard was killed, and elect killed the group
}

// reasons are why a reign may be over.
type reasons struct {
	found  string        // what is stored in its place
	failed error         // what the last renewal failed with
	frozen time.Duration // how long elect itself was stopped; 0: not so long that it matters
}

// late says why nothing was renewed in time, and what to do.
func (r reasons) late() string {
	switch {
	case r.frozen > 0:
		return fmt.Sprintf("elect itself was stopped for %v (Ctrl-Z, SIGSTOP, or a machine that was frozen): start elect run again to campaign", r.frozen.Round(time.Second/10))
	case r.failed != nil:
		return fmt.Sprintf("start elect run again to campaign, when this is mended: %v", r.failed)
	}
	return "the guard process, or elect, was stopped, or the machine is too busy for this term: start elect run again to campaign"
}

// verdict turns an outcome into elect's error. lost is why the reign was over
// before COMMAND's group was, or nil.
func (o outcome) verdict(lost error, why reasons) error {
	worked := "COMMAND was gone before the term was over"
	if o.over {
		worked = "COMMAND may have worked beside the next leader: check what it did"
	}
	switch {
	case o.failed != nil && o.failed.Missing:
		return cliutil.Exit(cliutil.ExitNotFound, "COMMAND was not found: %s (its interpreter, if it is a script)", o.failed.Message)
	case o.failed != nil:
		return cliutil.Exit(cliutil.ExitNotRunnable, "COMMAND cannot be run: %s: name an executable file", o.failed.Message)
	case errors.Is(lost, core.ErrLeadershipLost):
		return cliutil.Exit(cliutil.ExitLost, "leadership was lost (%s); COMMAND was stopped and ended with status %d; %s:"+
			" see elect status, and start elect run again to campaign", worked, o.status, why.found)
	case o.over, o.why == guard.ReasonLate, o.why == guard.ReasonOrphaned, o.why == guard.ReasonLost, lost != nil:
		return cliutil.Exit(cliutil.ExitLost, "leadership could not be renewed in time (%s); COMMAND was stopped and ended with status %d; %s",
			worked, o.status, why.late())
	case o.guard:
		return cliutil.Exit(cliutil.ExitInternal, "the guard process was killed, so COMMAND was, too: start elect run again")
	case o.status != 0:
		return &cliutil.ExitError{Code: o.status}
	}
	return nil
}

// over is why the reign is over, if that was not of our own doing.
func (r *reign) over() error {
	err := r.l.Check()
	if errors.Is(err, core.ErrLeadershipLost) || errors.Is(err, core.ErrTermExpired) {
		return err
	}
	return nil
}
