package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/fencedlog"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/picture"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/screen"
)

const (
	minWorkers = 3 // one is dead, one is frozen, one leads
	maxWorkers = 20
)

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var workers int
	var kind string
	var asJSON, fast bool
	var open func() (*picture.File, error)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show an election with processes that are killed, frozen and sent away",
		Long: `demo starts an emulator of Cloud Storage (--store s3 or dynamodb: of that) and a
few worker processes on this machine. They campaign through one object, or one item,
and while one leads it writes to a log that refuses the fencing tokens of the past. One leader is killed, one is frozen
between a check and a write until somebody else leads and then continued, and one
is asked to leave. The reigns are drawn as a timeline, and checked: no two workers
may pass their checks at the same time, tokens must rise, and the log must have
taken nothing late. It takes half a minute. --timeline FILE draws the reigns as a
picture too (.svg, or .html: a page), when the demo ends, also by Ctrl-C; a picture
that elect wrote before is replaced, and nothing else.

The last line is JSON, and with --json it is all there is:
  reigns, overlaps, fencing_tokens, failover_ms (crash, freeze, resign: from the
  event until the next one led), refused (late lines), stale_writes (late lines
  that were accepted)

Exit codes: 0 all was well; 1 something was not: reigns overlapped, a token fell,
a late line was accepted, or the demo could not go on; 64 the command line is
wrong; 128+n ended by signal n.`,
		Example: `  elect demo
  elect demo --store dynamodb --fast --workers 5
  elect demo --timeline demo.html
  elect demo --fast --json | jq .failover_ms`,
		Args: cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !slices.Contains(kinds, kind):
				return cliutil.Usage("--store %.40q is no store of a demo: write one of %s", kind, strings.Join(kinds, ", "))
			case workers < minWorkers:
				return cliutil.Usage("--workers %d is not enough: one dies, one freezes, and somebody must be left to take over: give %d or more", workers, minWorkers)
			case workers > maxWorkers:
				return cliutil.Usage("--workers %d is more than a screen shows: give %d at most", workers, maxWorkers)
			case !canFreeze:
				return cliutil.Exit(cliutil.ExitInternal, "demo: processes cannot be frozen and continued on this system: run it on Linux or macOS")
			}
			p := usualPace()
			if fast {
				p = fastPace()
			}
			to, err := open()
			if err != nil {
				return err
			}
			return run(cmd.Context(), env, kind, p, workers, asJSON, to)
		},
	}
	f := cmd.Flags()
	f.StringVar(&kind, "store", kindGCS, "the store to emulate: gcs, s3 or dynamodb")
	f.IntVar(&workers, "workers", minWorkers, "how many worker processes to start")
	f.BoolVar(&asJSON, "json", false, "print the last line only")
	open = picture.Flag(cmd)
	f.BoolVar(&fast, "fast", false, "with terms so short that only an emulator allows them")
	cmd.AddCommand(newWorker(env))
	return cmd
}

// run performs a demo. When it returns nothing of it is left: no process, no file.
func run(ctx context.Context, env *cliutil.Env, kind string, pc pace, workers int, asJSON bool, to *picture.File) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	at, err := emulate(kind)
	if err != nil {
		return failed(err)
	}
	defer at.close()
	dir, err := os.MkdirTemp("", "elect-demo-")
	if err != nil {
		return failed(fmt.Errorf("demo: no place for the log: %w", err))
	}
	defer os.RemoveAll(dir)

	path := filepath.Join(dir, "log")
	p := &play{pace: pc, log: fencedlog.New(path), ended: make(map[*process]bool)}
	p.crew = newCrew(env.Executable, at.environ, append(pc.flags(), "--log", path, "--store", at.url))
	defer p.crew.dismiss()
	var watched *screen.Screen
	if !asJSON {
		watched = screen.New(env.Stdout, os.Getenv)
		watched.Print(opening(workers, at.what, pc))
	}
	p.board = newBoard(watched, workers, pc.about())
	err = p.perform(ctx, workers)
	end := hostNow()
	p.board.final(&p.history, end)
	drawn := to.Write(p.board.drawn(&p.history, end, fmt.Sprintf("%d workers campaign for %s. A term lasts %.1f s.", workers, at.what, pc.term.Seconds())))
	if err != nil {
		if drawn != nil {
			env.Warn("demo: %v", drawn)
		}
		return failed(err)
	}
	r, sound, err := verdict(&p.history, p.log, p.failover)
	if err != nil {
		return failed(err)
	}
	if watched != nil {
		watched.Print(p.closing(r))
	}
	if err := cliutil.WriteJSON(env.Stdout, r); err != nil {
		return err
	}
	if !sound {
		return cliutil.Exit(cliutil.ExitFailed, "demo: what must never happen has happened: see overlaps, fencing_tokens and stale_writes")
	}
	if drawn != nil {
		return failed(fmt.Errorf("demo: all was well, but %w", drawn))
	}
	return nil
}

// failed gives an error of the demo its exit code.
func failed(err error) error {
	var signalled *cliutil.ExitError
	if errors.As(err, &signalled) {
		return err
	}
	return cliutil.Exit(cliutil.ExitFailed, "%w", err)
}

// interruptible returns a context that ends with a signal, whose cause chooses
// the exit code.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
			n, _ := s.(syscall.Signal)
			cancel(cliutil.Exit(cliutil.ExitSignal+int(n), "demo: ended by a signal (%v); no worker is left", s))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
		<-done
	}
}

func opening(workers int, what string, p pace) string {
	return fmt.Sprintf("%d workers campaign for %s. A term lasts %.1f s,\n"+
		"a leader renews every %.1f s, the others look every %.1f s.\n\n",
		workers, what, p.term.Seconds(), p.renew.Seconds(), p.poll.Seconds())
}
