package dynamodecider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
)

// errNoAnswer is about a client that returns neither an answer nor an error.
var errNoAnswer = errors.New("the client returned neither an answer nor an error")

// storeError is every error of this package: what failed, on which election, why,
// and what to do. What it Is, it is by what err wraps and by the sentinels in is.
type storeError struct {
	where, what string
	err         error
	todo        string
	is          []error
}

func (e *storeError) Error() string {
	return fmt.Sprintf("dynamodecider: %s: %s: %s: %s", e.where, e.what, clip(e.err.Error()), e.todo)
}

func (e *storeError) Unwrap() []error { return append([]error{e.err}, e.is...) }

// clip keeps a store's answer, which may be a whole web page, to one short line.
func clip(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// misuse is about the program and not about the store: nothing was sent.
func (d *Decider) misuse(what string, err error) error {
	where := "dynamodb://" + clip(d.table) + "/" + clip(d.name)
	return &storeError{where: where, what: what + ": not sent", err: err, todo: "correct the program or its configuration",
		is: []error{core.ErrBroken, core.ErrInvalidConfig}}
}

// ended is the answer to a context that has ended, before the call or during it.
// The error Is nothing but the context's: its cause, and with it what the client
// returned, may be anything, an ErrBroken of another election included.
func (d *Decider) ended(ctx context.Context, op operation, err error) error {
	if err == nil {
		return &storeError{where: d.String(), what: op.String() + ": not sent",
			err: fmt.Errorf("%w (%v)", ctx.Err(), context.Cause(ctx)), todo: "the caller's context had ended"}
	}
	return &storeError{where: d.String(), what: op.String(),
		err:  fmt.Errorf("%w (%v)", ctx.Err(), context.Cause(ctx)),
		todo: "no answer before the context ended: " + clip(err.Error())}
}

// explain turns what the client returned into the outcome that the contract of
// core.RaceDecider asks for.
func (d *Decider) explain(ctx context.Context, op operation, err error) error {
	if ctx.Err() != nil {
		return d.ended(ctx, op, err)
	}
	v := d.judgeError(op, err)
	e := &storeError{where: d.String(), what: op.String(), err: err, todo: v.todo}
	switch v.outcome {
	case isLost:
		var failed *types.ConditionalCheckFailedException
		errors.As(err, &failed)
		return lost(failed, dateIn(err), e)
	case isBroken:
		e.is = []error{core.ErrBroken}
	}
	return e
}

// judgeError finds out what kind of failure err is.
func (d *Decider) judgeError(op operation, err error) verdict {
	if a, ok := answerIn(err); ok {
		return d.judge(a, op)
	}
	said := strings.ToLower(err.Error())
	switch {
	case errors.Is(err, errNoAnswer):
		return unknown("correct the client")
	case errors.Is(err, errForeign):
		return unknown("see to the proxy and the endpoint")
	case strings.Contains(said, "failed to resolve service endpoint"), strings.Contains(said, "missing region"):
		return broken("the client cannot tell where to send it: set the region (AWS_REGION), or correct the endpoint")
	case strings.Contains(said, "get identity"), strings.Contains(said, "credentials"):
		return unknown("no credentials: see to where they come from (environment, profile, role)")
	}
	return unknown("no usable answer: see to the network, the proxy, the region and the endpoint if it stays")
}
