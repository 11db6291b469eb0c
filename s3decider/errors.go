package s3decider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/cloudelect/cloudelect/core"
)

// errAbsent is the verdict "nothing is stored"; it does not leave the package.
var errAbsent = errors.New("nothing is stored")

// storeError is every error of this package: what failed, on which object, why,
// and what to do. What it Is, it is by what err wraps and by the sentinels in is.
type storeError struct {
	where object
	what  string
	err   error
	todo  string
	is    []error
}

func (e *storeError) Error() string {
	return fmt.Sprintf("s3decider: %s: %s: %s: %s", e.where, e.what, clip(e.err.Error()), e.todo)
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
func (o object) misuse(what string, err error) error {
	return &storeError{where: object{clip(o.bucket), clip(o.key)}, what: what + ": not sent", err: err,
		todo: "correct the program or its configuration", is: []error{core.ErrBroken, core.ErrInvalidConfig}}
}

// notSent is the answer to a context that has already ended.
func (o object) notSent(ctx context.Context, op operation) error {
	return &storeError{where: o, what: op.String() + ": not sent", err: ended(ctx), todo: "the caller's context had ended"}
}

// ended is the error of a context that has, else nil. Its cause is text only:
// whatever it is, it is no answer of the store.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("%w (%v)", ctx.Err(), context.Cause(ctx))
}

// explain turns what the client returned into the outcome that the contract of
// core.RaceDecider asks for.
func (o object) explain(ctx context.Context, op operation, err error) error {
	if ctx.Err() != nil {
		// The client may have returned the context's cause, which can be anything,
		// an answer of another store included.
		return &storeError{where: o, what: op.String(), err: ended(ctx), todo: "no answer before the context ended"}
	}
	v := judge(op, o.bucket, err)
	e := &storeError{where: o, what: op.String(), err: err, todo: v.todo}
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
func judge(op operation, bucket string, err error) verdict {
	if a, ok := answerIn(err); ok {
		return a.judge(op, bucket)
	}
	var (
		params    *smithy.InvalidParamsError
		serialize *smithy.SerializationError
		dns       *net.DNSError
	)
	switch {
	case errors.Is(err, errNoETag):
		return verdict{unknown, "it may have been stored, but the answer does not name the version: see to the store and the proxies before it"}
	case errors.As(err, &params), errors.As(err, &serialize), unresolved(err):
		return verdict{broken, "nothing was sent: correct the client's region and endpoint, and the bucket"}
	case errors.As(err, &dns) && dns.IsNotFound && strings.HasPrefix(dns.Name, bucket+"."):
		return verdict{unknown, "no such host: see to the endpoint, and set the client's UsePathStyle if this store does not take the bucket for a part of the host name"}
	}
	return verdict{unknown, "no usable answer: see to the network, the endpoint, the proxy and the credentials if it stays"}
}

// unresolved tells whether the SDK found no address to send the request to: no
// region, or a region, endpoint or bucket that contradict each other. It has no type
// for that; and nothing but the SDK writes its text, since no answer was there.
func unresolved(err error) bool {
	var op *smithy.OperationError
	if !errors.As(err, &op) {
		return false
	}
	text := op.Err.Error()
	return strings.HasPrefix(text, "resolve auth scheme: resolve endpoint") ||
		strings.HasPrefix(text, "bind auth scheme params") || strings.Contains(text, "resolve service endpoint")
}
