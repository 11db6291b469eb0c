// Package watchcmd is `elect watch`: an election as it goes on, for people in
// front of a terminal and for programs behind a pipe.
package watchcmd

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/picture"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/screen"
)

// New returns the command.
func New(env *cliutil.Env) *cobra.Command {
	var url string
	w := &watcher{env: env}
	var open func() (*picture.File, error)
	cmd := &cobra.Command{
		Use:   "watch --store URL",
		Short: "Follow an election: who leads, and how long its term lasts",
		Long: `watch reads the entry of an election again and again, and changes nothing, until
Ctrl-C or SIGTERM. On a terminal it shows the current state, with the time left
of the term counting down by the store's clock, below a line for every change of
leader. Otherwise it prints the lines only, and says once on standard error if a
clock is wrong. A term that runs out without a successor is a change as well, and so
is a store that stops answering: the state is unknown then, for the leader may go on
renewing. -v prints a line for every version, renewals too.

--timeline FILE draws the reigns and renewals that were seen, as a picture (.svg, or
.html: a page): every ten seconds, and when watch ends. A picture that elect wrote
before is replaced, and nothing else.

--json prints one line of JSON for each of them, with the fields that elect status
--json has, and in the state unknown last_read_ms and error. A store that fails is
reported on standard error, and asked again.

Exit codes: 0 when it is ended by a signal; 1 then the picture could not be written; 64 the command line is wrong; 78 the
set-up is wrong, found out by the first look.`,
		Example: `  elect watch --store gs://my-bucket/elections/nightly
  elect watch --store gs://my-bucket/elections/nightly --json >>elections.jsonl
  elect watch --store gs://my-bucket/elections/nightly --timeline nightly.html`,
		Args: cliutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if w.poll < 0 || w.poll == 0 && cmd.Flags().Changed("poll") {
				return cliutil.Usage("--poll is %v: give a positive duration, like 2s", w.poll)
			}
			if w.poll > 0 && w.poll < minPoll {
				return cliutil.Usage("--poll %v is too short, every look is a paid request: give %v or more", w.poll, minPoll)
			}
			to, err := open()
			if err != nil {
				return err
			}
			if to != nil {
				w.drawing = &drawing{to: to}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			store, err := env.Open(ctx, url)
			if err != nil {
				return err
			}
			defer store.Close()
			w.store, w.decider = store.URL, store.Decider
			w.screen = screen.New(env.Stdout, os.Getenv)
			return w.run(ctx)
		},
	}
	cliutil.StoreFlag(cmd, &url)
	open = picture.Flag(cmd)
	f := cmd.Flags()
	f.DurationVar(&w.poll, "poll", 0, "how often to read; by default a fifth of the term, 500ms at least and 5s at most")
	f.BoolVar(&w.asJSON, "json", false, "print lines of JSON")
	f.BoolVarP(&w.verbose, "verbose", "v", false, "print a line for every version, not only for changes of leader")
	return cmd
}

const minPoll = 100 * time.Millisecond
