package jobleader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// note is a line about work that was not run although the exit code will be 0: at
// night nobody can tell that from a run that found little to do.
type note struct {
	level slog.Level
	text  string
}

// tellSettled says what became of a slot that was not run. Where every task does the
// rest, a slot that was done by another is what is meant to be.
func (j *job) tellSettled(res schedule.Result) {
	if res.Outcome == schedule.Done && j.Rest != nil {
		return
	}
	j.notes <- note{levelOf(res), "not run: " + res.String()}
}

// tellQuiet says why a task leaves quietly.
func (j *job) tellQuiet(err error) {
	n := note{slog.LevelInfo, err.Error()}
	var slot slotHeldError
	if errors.As(err, &slot) {
		n = note{levelOf(slot.res), slot.res.String()}
	}
	n.text = "not run, and left quietly: " + n.text
	j.notes <- n
}

// levelOf is a warning for slots that nobody runs any more and that are not known
// to be done.
func levelOf(res schedule.Result) slog.Level {
	if res.Outcome == schedule.Begun || res.Outcome == schedule.Stale {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// say prints or logs a note.
func (c Config) say(n note) {
	if l := c.Election.Logger; l != nil {
		l.Log(context.Background(), n.level, "jobleader: "+n.text)
		return
	}
	level := ""
	if n.level >= slog.LevelWarn {
		level = "warning: "
	}
	fmt.Fprintf(c.stderr(), "jobleader: %s%s\n", level, strings.ReplaceAll(n.text, "\n", "; "))
}

// slotHeldError is why a task with a slot was not elected. It Is core.ErrHeld.
type slotHeldError struct{ res schedule.Result }

func (e slotHeldError) Error() string { return core.ErrHeld.Error() + ": " + e.res.String() }

func (slotHeldError) Is(target error) bool { return target == core.ErrHeld }

// sawLeader tells whether err, which Is core.ErrHeld, comes of another candidate: one
// who leads, who came first and has left already, or who began the slot.
func sawLeader(err error) bool {
	var slot slotHeldError
	if errors.As(err, &slot) {
		return slot.res.Leader != "" || slot.res.Outcome == schedule.Begun
	}
	var held *core.HeldError
	return errors.As(err, &held) && (!held.Current.Vacant() || held.RetryAfter == 0)
}
