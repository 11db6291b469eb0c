package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
	"github.com/cloudelect/cloudelect/functions/lambdaleader"
)

// Reply is what an invocation answers.
type Reply struct {
	// Outcome: "ran": the work was done here. "recorded": it had been done before,
	// by somebody who could not note the slot any more. "follower": somebody else
	// leads, and nothing was done. The others are package schedule's outcomes.
	Outcome      string `json:"outcome"`
	Slot         string `json:"slot,omitempty"`
	By           string `json:"by"`                      // the LeaderID of this sandbox
	FencingToken int64  `json:"fencing_token,omitempty"` // of the reign, when it led
	Leader       string `json:"leader,omitempty"`        // who leads instead
	RetryAfter   string `json:"retry_after,omitempty"`   // when asking again can be of use
}

// Function is the function in a sandbox.
type Function struct {
	options
	store  *store.Store
	leader *lambdaleader.Leader // for MODE=lead, and the name of this sandbox
	slots  core.Config          // for MODE=slot
	handle func(context.Context, json.RawMessage) (Reply, error)
	chaos  chaos
}

// Run serves invocations until the platform ends the process. An error says that
// the function is set up wrongly: it ends the initialisation, and is in the log.
func Run(ctx context.Context, getenv func(string) string, open store.Open) error {
	f, err := New(ctx, getenv, open)
	if err != nil {
		return err
	}
	options := []lambda.Option{lambda.WithContext(ctx)}
	if f.mode == "lead" { // in the other mode nothing is left to resign between invocations
		options = append(options, f.leader.SIGTERM())
	}
	lambda.StartWithOptions(f.Handle, options...)
	return nil
}

// New reads the settings and opens the store. It sends nothing.
func New(ctx context.Context, getenv func(string) string, open store.Open) (*Function, error) {
	r := settings.New(getenv)
	f := &Function{options: readOptions(r), chaos: newChaos(r)}
	var err error
	if f.store, err = open(ctx, r); err != nil {
		return nil, err
	}
	f.slots = f.election(f.store.Decider, f.chaos)
	f.leader, err = lambdaleader.New(f.election(f.store.Decider, f.chaos),
		&lambdaleader.Options{Margin: f.margin, FailFollowers: f.failFollowers, Keep: true})
	if err != nil {
		return nil, err
	}
	f.handle = f.slot
	if f.mode == "lead" {
		var follow func(context.Context, json.RawMessage, *core.HeldError) (Reply, error)
		if !f.failFollowers {
			follow = f.follow
		}
		f.handle = lambdaleader.WrapOr(f.leader, f.lead, follow)
	}
	return f, nil
}

// Handle is the handler of an event.
func (f *Function) Handle(ctx context.Context, event json.RawMessage) (Reply, error) {
	return f.handle(ctx, event)
}

// work is the work: replace the pause by yours, and let what it writes be as the
// record is, such that a leader of the past cannot write it.
func (f *Function) work(ctx context.Context, l *core.Leadership, slot string, event json.RawMessage) (outcome string, err error) {
	f.chaos.work(event)
	if f.workTime > 0 {
		timer := time.NewTimer(f.workTime)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return "", fmt.Errorf("worker: the work on %s was broken off: %w", slot, context.Cause(ctx))
		}
	}
	stored, err := f.store.Put(ctx, l, f.term, store.Record{
		Slot: slot, LeaderID: l.Entry().LeaderID, FencingToken: l.FencingToken(), DoneAt: time.Now(),
	})
	if !stored {
		return "recorded", err
	}
	return "ran", nil
}

// lead handles an event while this sandbox leads.
func (f *Function) lead(ctx context.Context, l *core.Leadership, event json.RawMessage) (Reply, error) {
	request, ok := lambdacontext.FromContext(ctx)
	if !ok {
		return Reply{}, errors.New("worker: the invocation has no request ID, which names its record")
	}
	reply := Reply{Slot: "request " + request.AwsRequestID, By: f.leader.LeaderID(), FencingToken: l.FencingToken()}
	var err error
	reply.Outcome, err = f.work(ctx, l, reply.Slot, event)
	return reply, err
}

// follow answers for a sandbox that does not lead.
func (f *Function) follow(_ context.Context, _ json.RawMessage, held *core.HeldError) (Reply, error) {
	return Reply{Outcome: "follower", By: f.leader.LeaderID(), Leader: held.Current.LeaderID, RetryAfter: after(held.RetryAfter)}, nil
}

func after(d time.Duration) string {
	return cmp.Or(max(d, 0), time.Second).Round(time.Millisecond).String()
}
