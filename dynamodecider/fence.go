package dynamodecider

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
)

// maxTransaction is how many items a transaction may have ("Amazon DynamoDB
// transactions: how it works", TransactWriteItems API).
const maxTransaction = 100

// never is a fencing token that no reign has.
const never = -1

// TransactAPI is what WriteFenced asks of DynamoDB; *dynamodb.Client has it.
type TransactAPI interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

var _ TransactAPI = (*dynamodb.Client)(nil)

// FenceCheck is the condition that l is still the current reign of this
// decider's election, to be put into a transaction beside the leader's own
// writes: DynamoDB then applies all of them or, if somebody else has led since,
// nothing. A leader that was frozen and thaws can so do no harm, whatever its
// clocks say. l must be of the election that this decider keeps.
//
// The condition is on the reign and not on a version of the entry: renewals
// do not disturb it. Its fields are those of a types.ConditionCheck on the
// election's item. If l is nil or has ended, the check is one that always fails.
//
// The credentials need dynamodb:ConditionCheckItem. A transaction on the
// election's item may collide with a renewal; whichever comes second is refused
// and tried again.
func (d *Decider) FenceCheck(l *core.Leadership) types.TransactWriteItem {
	token, leader := int64(never), ""
	if l != nil && l.Check() == nil {
		e := l.Entry()
		token, leader = e.FencingToken, e.LeaderID
	}
	condition := attrFencingToken + "=:f AND " + attrLeaderID + "=:l AND " + attrHeld + "=:d"
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:           aws.String(d.table),
		Key:                 keyOf(d.name),
		ConditionExpression: &condition,
		ExpressionAttributeValues: item{
			":f": &types.AttributeValueMemberN{Value: strconv.FormatInt(token, 10)},
			":l": text(leader),
			":d": &types.AttributeValueMemberBOOL{Value: false},
		},
	}}
}

// WriteFenced runs the transaction in, with FenceCheck(l) added to it, in one
// attempt.
//
//   - nil: everything in it was written while l was the current reign.
//   - An error that Is core.ErrLeadershipLost: nothing was written, because
//     l is not the current reign any more. If l had ended before, nothing was sent,
//     and the error Is what l.Check says as well.
//   - An error that Is core.ErrBroken: nothing was written and trying again cannot
//     help: no permission, no such table, or a store that has no transactions.
//   - An error with a *types.TransactionCanceledException in it (errors.As):
//     nothing was written; its reasons say why: a condition of the
//     caller's own, or a collision that passes. They are in the order of in's items;
//     the last is FenceCheck's.
//   - Any other error: it may have been written. Give in a ClientRequestToken
//     and call again with the same one: DynamoDB does not apply it twice within ten
//     minutes.
//
// in is not changed. It may have 99 items, none of them the election's.
func (d *Decider) WriteFenced(ctx context.Context, client TransactAPI, l *core.Leadership, in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
	if d.invalid != nil {
		return nil, d.invalid
	}
	if err := fenceable(client, l, in); err != nil {
		return nil, d.misuse("fenced write", err)
	}
	if ctx.Err() != nil {
		return nil, d.ended(ctx, opTransact, nil)
	}
	if over := l.Check(); over != nil {
		return nil, &storeError{where: d.String(), what: "fenced write: not sent", err: over,
			todo: "stop leading", is: []error{core.ErrLeadershipLost}}
	}
	fenced := *in
	n := len(in.TransactItems)
	fenced.TransactItems = append(in.TransactItems[:n:n], d.FenceCheck(l))
	out, err := client.TransactWriteItems(ctx, &fenced, once)
	if err == nil && out == nil {
		err = errNoAnswer
	}
	if err == nil {
		_, err = success(out.ResultMetadata)
	}
	if err != nil {
		return nil, d.explainFenced(ctx, n, err)
	}
	return out, nil
}

func fenceable(client TransactAPI, l *core.Leadership, in *dynamodb.TransactWriteItemsInput) error {
	switch {
	case missing(client):
		return errors.New("there is no client; make one with dynamodb.NewFromConfig")
	case l == nil:
		return errors.New("there is no leadership; pass the one that was won")
	case in == nil || len(in.TransactItems) == 0:
		return errors.New("the transaction has no items; pass what is to be written")
	case len(in.TransactItems) >= maxTransaction:
		return fmt.Errorf("the transaction has %d items; with the check it may have %d", len(in.TransactItems), maxTransaction)
	}
	return nil
}

// explainFenced finds out what a failed transaction says about the reign.
// check is the place of FenceCheck in it.
func (d *Decider) explainFenced(ctx context.Context, check int, err error) error {
	if ctx.Err() != nil {
		return d.ended(ctx, opTransact, err)
	}
	fail := func(todo string, is ...error) error {
		return &storeError{where: d.String(), what: "fenced write", err: err, todo: todo, is: is}
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		if r := cancelled.CancellationReasons; check < len(r) && aws.ToString(r[check].Code) == "ConditionalCheckFailed" {
			return fail("nothing was written, somebody else has led since: stop leading", core.ErrLeadershipLost)
		}
		return fail("nothing was written: the reasons tell which item it was, and try again if it collided with another write")
	}
	a, ok := answerIn(err)
	if ok && (a.code == "UnknownOperationException" || a.code == "NotImplemented" || a.code == "UnsupportedOperationException") {
		return fail("nothing was written: this store has no TransactWriteItems and cannot fence writes; use DynamoDB itself, or let the resource check the fencing token", core.ErrBroken)
	}
	if ok && a.code == "ValidationException" {
		return fail("nothing was written: correct the transaction; none of its items may be the election's", core.ErrBroken)
	}
	v := d.judgeError(opTransact, err)
	if v.outcome == isBroken {
		return fail("nothing was written: "+v.todo, core.ErrBroken)
	}
	return fail("it may have been written: " + v.todo)
}
