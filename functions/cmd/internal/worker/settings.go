package worker

import (
	"log/slog"
	"os"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// options are what the environment says, beside STORE.
type options struct {
	mode          string        // MODE: slot or lead
	term          time.Duration // TERM_LENGTH: the longest term (TERM is what terminals are called)
	margin        time.Duration // MARGIN: kept of an invocation's time for leaving in order
	period        time.Duration // PERIOD: the slots of events that have no time; 0: such events are refused
	onFailure     schedule.Policy
	failFollowers bool          // FAIL_FOLLOWERS: so that the platform tries again
	workTime      time.Duration // WORK_TIME: how long the work takes
	logger        *slog.Logger  // LOG
}

// whyMargin bounds MARGIN. The function's own timeout is not known before it is invoked.
const whyMargin = "leaving takes a request to the store, and an invocation of Lambda, which is 15m at most, has to be longer than two margins"

func readOptions(r *settings.Reader) options {
	o := options{
		mode:          r.OneOf("MODE", "slot", "lead"),
		term:          r.Duration("TERM_LENGTH", 15*time.Second, settings.Range{Least: time.Second, Most: entry.MaxTermLength}),
		margin:        r.Duration("MARGIN", 500*time.Millisecond, settings.Range{Least: time.Millisecond, Most: 7 * time.Minute, Note: whyMargin}),
		period:        r.Duration("PERIOD", 0, settings.Range{Least: time.Second, Most: entry.MaxTermLength, Unset: "to refuse events without a time"}),
		failFollowers: r.Bool("FAIL_FOLLOWERS"),
		workTime:      r.Duration("WORK_TIME", 0, settings.Range{Most: 15 * time.Minute}),
	}
	if r.OneOf("ON_FAILURE", "retry", "skip") == "skip" {
		o.onFailure = schedule.Skip
	}
	for _, name := range []string{"PERIOD", "ON_FAILURE"} {
		if o.mode == "lead" && r.Set(name) {
			r.Fault("%s is set, but MODE=lead knows no slots: leave it out, or choose MODE=slot", name)
		}
	}
	level := slog.LevelWarn
	switch r.OneOf("LOG", "warn", "info", "debug") {
	case "info":
		level = slog.LevelInfo
	case "debug":
		level = slog.LevelDebug
	}
	o.logger = slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	return o
}

// election is what is common to both modes.
func (o options) election(d core.RaceDecider, c chaos) core.Config {
	return core.Config{Decider: d, TermLength: o.term, Memory: new(core.Memory), Logger: o.logger, Clock: c.clock}
}
