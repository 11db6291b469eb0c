package gcsdecider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/auth"

	"github.com/cloudelect/cloudelect/core"
)

// errAbsent is the verdict "nothing is stored"; it does not leave the package.
var errAbsent = errors.New("nothing is stored")

// storeError is every error of this package: what failed, on which object, why,
// and what to do. What it Is, it is by what err wraps and by the sentinels in is.
type storeError struct {
	where, what string
	err         error
	todo        string
	is          []error
}

func (e *storeError) Error() string {
	return fmt.Sprintf("gcsdecider: %s: %s: %s: %s", e.where, e.what, clip(e.err.Error()), e.todo)
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
	where := "gs://" + clip(d.bucket) + "/" + clip(d.object)
	return &storeError{where: where, what: what + ": not sent", err: err, todo: "correct the program or its configuration",
		is: []error{core.ErrBroken, core.ErrInvalidConfig}}
}

// notSent is the answer to a context that has already ended. Its cause is text
// only: whatever it is, it is no answer of the store.
func (d *Decider) notSent(ctx context.Context, op operation) error {
	return &storeError{where: d.String(), what: op.String() + ": not sent",
		err: fmt.Errorf("%w (%v)", ctx.Err(), context.Cause(ctx)), todo: "the caller's context had ended"}
}

// explain turns what the client returned into the outcome that the contract of
// core.RaceDecider asks for.
func (d *Decider) explain(ctx context.Context, op operation, err error) error {
	v := d.judge(ctx, op, err)
	e := &storeError{where: d.String(), what: op.String(), err: err, todo: v.todo}
	switch v.outcome {
	case absent:
		return errAbsent
	case lost:
		return &core.LostRaceError{Err: e}
	case broken:
		e.is = []error{core.ErrBroken}
	}
	return e
}

// judge finds out what kind of failure err is.
func (d *Decider) judge(ctx context.Context, op operation, err error) verdict {
	if a, ok := answerIn(err, d.bucket+"/"+d.object); ok {
		return a.judge(op, d.bucket)
	}
	var token *auth.Error
	switch {
	case errors.Is(err, errNoGeneration):
		return verdict{unknown, "the endpoint is not Cloud Storage, or a proxy removes its headers"}
	case ctx.Err() != nil:
		return verdict{unknown, fmt.Sprintf("no answer before the context ended (%v)", context.Cause(ctx))}
	case errors.As(err, &token):
		return verdict{unknown, "no access token: see to the credentials (gcloud auth application-default login, or the service account and its key)"}
	}
	return verdict{unknown, "no usable answer: see to the network, the proxy, the endpoint and the credentials if it stays"}
}
