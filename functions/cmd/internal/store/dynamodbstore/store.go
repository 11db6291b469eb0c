// Package dynamodbstore keeps an election, and an item for each slot that was done,
// in one DynamoDB table.
package dynamodbstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/dynamodecider"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/awsconfig"
)

// Open opens dynamodb://TABLE/ELECTION. It sends nothing, unless only EC2's
// metadata service may have credentials.
func Open(ctx context.Context, r *settings.Reader) (*store.Store, error) {
	table, election := r.Location(store.Variable, "dynamodb", "TABLE/ELECTION")
	if err := r.Err(); err != nil {
		return nil, err
	}
	cfg, err := awsconfig.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("dynamodbstore: %w", err)
	}
	client := dynamodb.NewFromConfig(cfg)
	j := &journal{decider: dynamodecider.NewDecider(client, table, election, nil), client: client, table: table, election: election}
	return &store.Store{Decider: j.decider, Write: j.write, Close: func() error { return nil }}, nil
}

// RecordKey is the key of a slot's item. It begins like the election's, so that one
// IAM condition on dynamodb:LeadingKeys covers both.
func RecordKey(election, slot string) string { return election + "/done/" + slot }

type journal struct {
	decider         *dynamodecider.Decider
	client          *dynamodb.Client
	table, election string
}

// write stores r in one transaction with the condition that l is the current reign.
func (j *journal) write(ctx context.Context, l *core.Leadership, r store.Record) (bool, error) {
	item := itemOf(r)
	_, err := j.decider.WriteFenced(ctx, j.client, l, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{{Update: &types.Update{
			TableName:                           &j.table,
			Key:                                 map[string]types.AttributeValue{"election": text(RecordKey(j.election, r.Slot))},
			UpdateExpression:                    aws.String("SET slot=:slot,leader_id=:leader_id,fencing_token=:fencing_token,done_at=:done_at"),
			ConditionExpression:                 aws.String("attribute_not_exists(election)"),
			ExpressionAttributeValues:           item,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}},
	})
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired), errors.Is(err, core.ErrBroken):
		return false, fmt.Errorf("dynamodbstore: the record of slot %s was not stored: %w", r.Slot, err)
	case errors.As(err, &canceled) && len(canceled.CancellationReasons) > 0 &&
		aws.ToString(canceled.CancellationReasons[0].Code) == "ConditionalCheckFailed":
		return is(canceled.CancellationReasons[0].Item, item), nil
	}
	return false, fmt.Errorf("dynamodbstore: the record of slot %s may not be stored: %w", r.Slot, err)
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// itemOf is r as the values of the expression, which are the item's with a colon.
func itemOf(r store.Record) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		":slot": text(r.Slot), ":leader_id": text(r.LeaderID), ":done_at": text(r.DoneAt.UTC().Format(time.RFC3339Nano)),
		":fencing_token": &types.AttributeValueMemberN{Value: strconv.FormatInt(r.FencingToken, 10)},
	}
}

// is tells whether the item that is stored has these values: an attempt before has
// written it, and its answer was lost.
func is(stored, values map[string]types.AttributeValue) bool {
	for name, want := range values {
		if !reflect.DeepEqual(stored[name[1:]], want) {
			return false
		}
	}
	return true
}
