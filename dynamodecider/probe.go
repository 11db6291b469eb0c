package dynamodecider

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
)

var _ core.Prober = (*Decider)(nil)

// deleter is what cleaning up after a probe asks of the client; *dynamodb.Client has it.
type deleter interface {
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Probe finds out on scratch items of the election's table whether this store
// and these credentials honour what WriteEntry relies on: see package probe for
// the checks. It takes about five seconds, and deletes its items in the end:
// those called like the election with ".probe-..." appended. Elections never delete;
// without dynamodb:DeleteItem, or with a client that has no DeleteItem, a few
// items stay and are named in the report.
//
// An error means that the probe did not come to its end (a timeout, say); what
// the store denies is in the report.
func (d *Decider) Probe(ctx context.Context) (core.ProbeReport, error) {
	if d.invalid != nil {
		return core.ProbeReport{}, d.invalid
	}
	return probe.Run(ctx, probe.Target{Scratch: d.scratch}, nil)
}

// probed is nil unless Options.ProbeFirst says that the store must be probed,
// and it was not found usable.
func (d *Decider) probed(ctx context.Context) error {
	if !d.opts.ProbeFirst {
		return nil
	}
	if err := d.gate.Pass(ctx, d.Probe); err != nil {
		return fmt.Errorf("dynamodecider: %s: nothing was written (Options.ProbeFirst): %w", d, err)
	}
	return nil
}

// scratch is an item that nobody else uses.
func (d *Decider) scratch(suffix string) probe.Record {
	s := d.beside("." + suffix)
	return probe.Record{
		Name:  s.String(),
		Open:  func() core.RaceDecider { return d.beside("." + suffix) },
		Raw:   s.raw,
		Clean: s.remove,
	}
}

// raw returns the item in a form that is the same for equal items.
func (d *Decider) raw(ctx context.Context) ([]byte, error) {
	out, err := d.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &d.table, Key: d.key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, d.explain(ctx, opRead, err)
	}
	return readable(out.Item), nil
}

// remove deletes a scratch item. Nothing deletes an election's own.
func (d *Decider) remove(ctx context.Context) error {
	e := &storeError{where: d.String(), what: "delete the scratch item"}
	client, ok := d.client.(deleter)
	if !ok {
		e.err, e.todo, e.is = fmt.Errorf("the client, a %T, has no DeleteItem", d.client), "delete it by hand", []error{core.ErrBroken}
		return e
	}
	_, e.err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &d.table, Key: d.key})
	if e.err == nil {
		return nil
	}
	e.todo = "no usable answer"
	var api smithy.APIError
	if errors.As(e.err, &api) && api.ErrorCode() == "AccessDeniedException" {
		e.todo, e.is = "grant dynamodb:DeleteItem, or delete it by hand", []error{core.ErrBroken}
	}
	return e
}
