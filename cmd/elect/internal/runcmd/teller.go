package runcmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/core"
)

// holder says who or what keeps the election from being won, and for how long if
// nothing is renewed.
func holder(h *core.HeldError) string {
	left := h.RetryAfter.Round(time.Second / 10)
	switch e := h.Current; {
	case h.RetryAfter == math.MaxInt64:
		return "nothing is known of the election: " + h.Reason
	case e.Held:
		return fmt.Sprintf("%s keeps the election closed for %v (a reign that is done, with --min-hold, or elect break)", cliutil.Name(e.LeaderID), left)
	case e.Absent() && left > 0:
		return fmt.Sprintf("the entry was deleted, and whoever led by it may still lead; free in %v", left)
	case e.Vacant():
		return fmt.Sprintf("another candidate came first, or this one won a short while ago; free in %v", left)
	default:
		return fmt.Sprintf("%s leads with fencing token %d", cliutil.Name(e.LeaderID), e.FencingToken)
	}
}

// teller says on stderr why COMMAND does not run yet, once per reason.
type teller struct {
	env  *cliutil.Env
	once bool // there is no waiting to tell of
	done bool // elected: there is none any more
	last string
	told map[string]bool // failures of the store since last
}

func (t *teller) hear(e core.Event) {
	if t.done = t.done || e.Kind == core.EventElected; t.done || t.once {
		return
	}
	var held *core.HeldError
	unknown := e.Kind == core.EventRequest && e.Outcome == core.OutcomeUnknown && !errors.Is(e.Err, context.Canceled)
	switch {
	case unknown && e.Op == core.OpRead:
		t.fails("the store does not answer, trying again: ", e.Err)
	case unknown && e.Op == core.OpAcquire:
		t.fails("the store does not take writes, trying again: ", e.Err)
	case e.Kind != core.EventWaiting || e.Err == nil:
	case errors.Is(e.Err, core.ErrBadEntry):
		t.held("waiting: "+e.Err.Error(), "bad "+e.Err.Error()) // the decider has said what to do
	case errors.As(e.Err, &held) && held.RetryAfter != math.MaxInt64:
		t.held("waiting: "+holder(held), fmt.Sprint(e.Entry.LeaderID, e.Entry.FencingToken, e.Entry.Held, e.Entry.Absent()))
	}
}

// held tells who holds the election, if that is news.
func (t *teller) held(line, reason string) {
	if reason != t.last {
		t.last, t.told = reason, nil
		t.env.Warn("%s", line)
	}
}

// fails tells what the store fails with, if that is news. What differs in numbers
// only, as durations and generations do, is the same.
func (t *teller) fails(what string, err error) {
	reason := what + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, err.Error())
	if t.told[reason] {
		return
	}
	if t.told == nil {
		t.told = make(map[string]bool)
	}
	t.told[reason] = true
	t.env.Warn("waiting: %s%v", what, err)
}
