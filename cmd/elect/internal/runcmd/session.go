package runcmd

import (
	"context"
	"errors"
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
		LeaderID: s.id, Decider: s.sent.decider(),
		TermLength: s.term, PollInterval: s.poll, RenewInterval: s.renew,
		MinHold: s.minHold, WaitAtMost: s.wait,
		OnEvent: func(e core.Event) {
			told.hear(e)
			if e.Kind == core.EventRenewed {
				s.confirm(e.Entry.Nonce)
			}
		},
	}
	if s.verbose {
		cfg.Logger = slog.New(slog.NewTextHandler(s.env.Stderr, nil))
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
	s.resign(l)
	return out.verdict(lost)
}

// resign gives the election up in the store. COMMAND has ended by now, so a failure
// is worth a warning and no more: the next leader waits for the term's end.
func (s *session) resign(l *core.Leadership) {
	ctx, cancel := context.WithTimeout(context.Background(), s.term+5*time.Second)
	defer cancel()
	if err := l.Resign(ctx); err != nil {
		s.env.Warn("%v", err)
	}
}

// outcome is how COMMAND and its group ended.
type outcome struct {
	status  int
	failed  *guard.Failure
	why     guard.Reason
	over    bool // the term was, before the group was gone
	remains bool // the group has processes left
	guard   bool // the guard was killed, and elect killed the group
}

// verdict turns an outcome into elect's error. lost is why the reign was over
// before COMMAND's group was, or nil.
func (o outcome) verdict(lost error) error {
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
		return cliutil.Exit(cliutil.ExitLost, "leadership was lost, another entry replaced this reign's (%s);"+
			" COMMAND was stopped and ended with status %d: see elect status, and start elect run again to campaign", worked, o.status)
	case o.over, o.why == guard.ReasonLate, o.why == guard.ReasonOrphaned, o.why == guard.ReasonLost, lost != nil:
		return cliutil.Exit(cliutil.ExitLost, "leadership could not be renewed in time (%s); COMMAND was stopped and ended with status %d:"+
			" see that the store can be reached, and start elect run again to campaign", worked, o.status)
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
