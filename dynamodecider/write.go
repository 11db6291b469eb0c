package dynamodecider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// maxSize bounds what an entry may add to an item, in bytes. DynamoDB's items
// have 400 KB at most, the attributes of others included; entries have one or two.
const maxSize = 256 << 10

// WriteEntry stores e in one request, without a retry, if the version that
// e.Token names is still the current one. See core.RaceDecider for the four
// outcomes, and the package comment for which answer means which. A lost race is a
// *core.LostRaceError whose Current is the item that DynamoDB sent with the
// failure; nil where there is none, where it is no entry, and with stores that
// leave it out.
//
// An entry that is not valid or too large, and a token that is not this
// package's, are refused before anything is sent: the error Is core.ErrBroken and
// core.ErrInvalidConfig.
func (d *Decider) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if d.invalid != nil {
		return nil, d.invalid
	}
	base, err := d.writable(e)
	if err != nil {
		return nil, d.misuse("write", err)
	}
	if ctx.Err() != nil {
		return nil, d.ended(ctx, opWrite, nil)
	}
	if err := d.probed(ctx); err != nil {
		return nil, err
	}
	roomy()
	expression, values := assign, assigned(e)
	condition := base.limit(values)
	out, err := d.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           &d.table,
		Key:                                 d.key,
		UpdateExpression:                    &expression,
		ConditionExpression:                 &condition,
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, once)
	if err == nil && out == nil {
		err = errNoAnswer
	}
	if err != nil {
		return nil, d.explain(ctx, opWrite, err)
	}
	date, err := success(out.ResultMetadata)
	if err != nil {
		return nil, d.explain(ctx, opWrite, err)
	}
	return nonceToken(e.Nonce, date), nil
}

// writable checks what is to be written and returns the version it replaces.
func (d *Decider) writable(e *entry.RaceEntry) (*Token, error) {
	if e == nil {
		return nil, errors.New("there is no entry; pass one")
	}
	base, err := tokenOf(e)
	if err != nil {
		return nil, err
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	size := len(e.LeaderID) + len(e.Nonce) + len(e.ConnectionParams) + len(e.Checkpoint)
	for _, h := range e.HostPort {
		size += len(h)
	}
	if size > maxSize {
		return nil, fmt.Errorf("%w: %d bytes, more than %d; shorten HostPort or ConnectionParams", entry.ErrBad, size, maxSize)
	}
	return base, nil
}

// lost is the outcome of a failed condition.
func lost(failed *types.ConditionalCheckFailedException, date time.Time, why error) error {
	err := &core.LostRaceError{Err: why}
	if failed == nil || len(failed.Item) == 0 {
		return err // gone, or left out
	}
	if e, fault := decode(failed.Item); fault == nil {
		e.Token = nonceToken(e.Nonce, date)
		err.Current = e
	}
	return err
}
