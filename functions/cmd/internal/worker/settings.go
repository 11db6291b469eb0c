package worker

import (
	"log/slog"
	"os"
	"time"

	"github.com/cloudelect/cloudelect/core"
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

func readOptions(r *settings.Reader) options {
	o := options{
		mode:          r.OneOf("MODE", "slot", "lead"),
		term:          r.Duration("TERM_LENGTH", 15*time.Second),
		margin:        r.Duration("MARGIN", 500*time.Millisecond),
		period:        r.Duration("PERIOD", 0),
		failFollowers: r.Bool("FAIL_FOLLOWERS"),
		workTime:      r.Duration("WORK_TIME", 0),
	}
	if r.OneOf("ON_FAILURE", "retry", "skip") == "skip" {
		o.onFailure = schedule.Skip
	}
	if o.margin == 0 {
		r.Fault("MARGIN is 0: leaving takes a request to the store, 500ms is enough for most")
	}
	if 0 < o.period && o.period < time.Second {
		r.Fault("PERIOD is %v: slots are a second apart, or more", o.period)
	}
	if o.mode == "lead" && o.period != 0 {
		r.Fault("PERIOD is set, but MODE=lead knows no slots")
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
