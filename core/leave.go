package core

import (
	"context"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// maxLeave bounds the look on leaving, whatever the term: somebody wants to go.
const maxLeave = 4 * time.Second

// leave ends the campaign without a win, and returns err. If an attempt may
// be stored unseen, a bounded look makes sure that it does not block the
// election for a term: one where an earlier look still showed what it builds on,
// up to three where nobody has looked since.
func (c *campaign) leave(ctx context.Context, err error) error {
	looks := 1
	if c.unsettled {
		looks = 3
	}
	if len(c.attempts) == 0 {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	attempts, base := c.attempts, c.base
	c.forget()
	until := c.sample().elapsed + min(c.request(), maxLeave)
	for n := range looks {
		left := until - c.sample().elapsed
		stored, outcome, _ := c.read(ctx, nil, left)
		if outcome == OutcomeBroken || outcome == OutcomeBadEntry || left <= 0 {
			break
		}
		if outcome == OutcomeRead {
			switch stand(attempts, base, stored) {
			case standingOurs:
				c.vacate(ctx, stored, until)
				return err
			case standingForeign:
				return err
			}
		}
		if n+1 < looks {
			pause(ctx, c.Clock, min(maxLeave/16<<n, until-c.sample().elapsed))
		}
	}
	return err
}

// vacate writes the vacant entry over a win that nobody will use.
func (c *campaign) vacate(ctx context.Context, stored *entry.RaceEntry, until time.Duration) {
	e := *stored
	e.ElectionNumber++
	endEntry(&e, false, nil)
	a := c.stamp(&e, c.sample(), stored.TermLength)
	outcome, err := c.write(ctx, nil, until-a.sent.elapsed, OpResign, &e, a.sent)
	kind := EventResigned
	if outcome != OutcomeStored {
		kind = EventNotResigned
	}
	c.hooks.tell(c.sample(), Event{Kind: kind, Entry: e, Err: err})
}
