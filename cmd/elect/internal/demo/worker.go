package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/fencedlog"
	"github.com/cloudelect/cloudelect/core"
)

const (
	checkEvery  = 10 * time.Millisecond
	appendEvery = 5 // checks
)

// worker is what one process does.
type worker struct {
	name string
	cfg  core.Config
	log  *fencedlog.Log

	mu  sync.Mutex
	out *json.Encoder
}

// newWorker returns the hidden command that the parent starts.
func newWorker(env *cliutil.Env) *cobra.Command {
	var id, name, path, url string
	var p pace
	cmd := &cobra.Command{
		Use:    "worker",
		Short:  "One worker of elect demo, which starts it",
		Hidden: true,
		Args:   cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if id == "" || name == "" || path == "" || url == "" {
				return cliutil.Usage("demo worker is started by elect demo: run that")
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			ctx, cancel := endsWith(ctx, cmd.InOrStdin())
			defer cancel()
			decider, end, err := candidacy(ctx, env.Stores, url, p)
			if err != nil {
				return err
			}
			defer end()
			w := &worker{name: name, log: fencedlog.New(path), out: json.NewEncoder(env.Stdout)}
			w.cfg = core.Config{
				LeaderID: id, TermLength: p.term, RenewInterval: p.renew, PollInterval: p.poll, Memory: new(core.Memory),
				Decider: decider,
			}
			w.cfg.OnEvent = w.hear
			return w.run(ctx)
		},
	}
	f := cmd.Flags()
	f.StringVar(&id, "id", "", "the candidate's name in the election")
	f.StringVar(&name, "name", "", "the worker's name in the log")
	f.StringVar(&path, "log", "", "the log")
	f.StringVar(&url, "store", "", "the election")
	f.DurationVar(&p.term, "term", 0, "the length of a term")
	f.DurationVar(&p.renew, "renew", 0, "how often a leader renews")
	f.DurationVar(&p.poll, "poll", 0, "how often a candidate looks")
	f.DurationVar(&p.minWrite, "min-write", 0, "the store's least interval between writes")
	return cmd
}

// run campaigns and leads until ctx ends.
func (w *worker) run(ctx context.Context) error {
	if err := w.tell(message{Kind: kindReady}); err != nil {
		return err
	}
	for {
		err := w.cfg.RunAsLeader(ctx, w.lead)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil, errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired):
		default:
			return fmt.Errorf("demo worker: %w", err)
		}
	}
}

// lead does what a careful leader does: it checks that it leads right before
// each thing that only a leader may do. That is not enough when it is stopped in
// between, and so the log checks as well.
func (w *worker) lead(ctx context.Context, l *core.Leadership) error {
	token := l.FencingToken()
	if err := w.tell(message{Kind: kindElected, Token: token, Text: l.Proof().String()}); err != nil {
		return err
	}
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		m := message{Kind: kindPassed, Token: token, Appends: n%appendEvery == 0}
		m.Before = hostNow()
		err := l.Check()
		m.After = hostNow()
		if err != nil {
			return w.tell(message{Kind: kindEnded, Token: token, Text: reason(err)})
		}
		m.Ends = hostNow() + int64(l.TimeLeft())
		if err := w.tell(m); err != nil {
			return err
		}
		if m.Appends {
			if err := w.append(token); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (w *worker) append(token int64) error {
	err := w.log.Append(time.Now(), w.name, token)
	switch {
	case err == nil:
		return w.tell(message{Kind: kindWrote, Token: token})
	case errors.Is(err, fencedlog.ErrStale) && !errors.Is(err, fencedlog.ErrNotNoted):
		return w.tell(message{Kind: kindRefused, Token: token})
	}
	return err
}

// reason says in two words why a reign ended.
func reason(err error) string {
	switch {
	case errors.Is(err, core.ErrTermExpired):
		return whyExpired
	case errors.Is(err, core.ErrLeadershipLost):
		return whyLost
	}
	return whyAsked
}

// hear passes on what the picture of the demo shows besides. Nobody may be there
// any more to be told; the worker finds that out elsewhere.
func (w *worker) hear(e core.Event) {
	switch {
	case e.Kind == core.EventRenewed:
		_ = w.tell(message{Kind: kindRenewed, Token: e.Entry.FencingToken})
	case e.Kind == core.EventRequest && e.Op == core.OpAcquire && e.Outcome == core.OutcomeLost:
		_ = w.tell(message{Kind: kindLost})
	}
}

// tell sends a message to the parent.
func (w *worker) tell(m message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	m.At = hostNow()
	if err := w.out.Encode(m); err != nil {
		return fmt.Errorf("demo worker: nobody listens any more: %w", err)
	}
	return nil
}

// endsWith returns a context that ends when r does: the parent holds the other
// end, and its death must be the worker's. The goroutine lives as long as the
// process, for nothing else ends a read.
func endsWith(ctx context.Context, r io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel(errors.New("the parent is gone"))
	}()
	return ctx, func() { cancel(context.Canceled) }
}
