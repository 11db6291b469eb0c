package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/functions/lambdaleader"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// slot runs the work once for the slot of an event.
func (f *Function) slot(ctx context.Context, event json.RawMessage) (Reply, error) {
	reply := Reply{By: f.leader.LeaderID()}
	slot, err := f.slotOf(event)
	if err != nil {
		return reply, err
	}
	c := schedule.Config{Election: f.slots, OnFailure: f.onFailure}
	c.Election.LeaderID = reply.By
	c.Election.ResignWithin = f.margin / 2
	if deadline, ok := ctx.Deadline(); ok {
		if c.Election.TermLength, err = f.termWithin(time.Until(deadline)); err != nil {
			return reply, err
		}
		limited, cancel := context.WithDeadlineCause(ctx, deadline.Add(-f.margin), lambdaleader.ErrNoTime)
		defer cancel()
		ctx = limited
	}
	var outcome string
	res, err := c.Run(ctx, slot, func(ctx context.Context, r *schedule.Run) (err error) {
		reply.FencingToken = r.Leadership().FencingToken()
		outcome, err = f.work(ctx, r.Leadership(), r.Slot().String(), event)
		return err
	})
	if errors.Is(err, schedule.ErrNoDate) { // its own advice is for who writes a program
		err = fmt.Errorf("worker: PERIOD goes by the store's clock, and the answers of this store have no Date: see to the proxy or the emulator in its way, or let the event have a time: %w", err)
	}
	if err != nil {
		return reply, err
	}
	reply.Slot, reply.Outcome = res.Slot.String(), res.Outcome.String()
	switch res.Outcome {
	case schedule.Ran:
		reply.Outcome = outcome
	case schedule.Running:
		reply.Leader, reply.RetryAfter = res.Leader, after(res.RetryAfter)
		if f.failFollowers {
			return reply, &lambdaleader.FollowerError{Held: &core.HeldError{
				Current: entry.RaceEntry{LeaderID: res.Leader}, RetryAfter: res.RetryAfter, Reason: res.String()}}
		}
	}
	return reply, nil
}

// slotOf is the slot that an event names, or that the time is in.
func (f *Function) slotOf(event json.RawMessage) (schedule.Slot, error) {
	slot, err := schedule.EventBridge(event)
	if err == nil || f.period == 0 {
		return slot, err
	}
	var e struct {
		Time string `json:"time"`
	}
	if json.Unmarshal(event, &e) == nil && e.Time != "" { // a slot that was meant and is unreadable is not "now"
		return slot, err
	}
	return schedule.Every(f.period, nil), nil
}

// termWithin chooses a term such that a sandbox that is killed does not keep the
// others waiting for much longer than it had left. The term counts from the write
// that wins, and the read before it may take a quarter of the term.
func (f *Function) termWithin(left time.Duration) (time.Duration, error) {
	if left < 2*f.margin {
		return 0, fmt.Errorf("worker: %w: it is %v away, and MARGIN, %v, is needed twice: give the function a longer timeout, or a smaller MARGIN",
			lambdaleader.ErrNoTime, left.Round(time.Millisecond), f.margin)
	}
	return min(f.term, (left+f.margin)/5*4), nil
}
