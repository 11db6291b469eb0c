// Package dynamodbstore keeps an election, and an item for each slot that was done,
// in one DynamoDB table.
package dynamodbstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/dynamodecider"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
)

// Open opens dynamodb://TABLE/ELECTION. It sends nothing.
func Open(ctx context.Context, r *settings.Reader) (*store.Store, error) {
	table, election := r.Location(store.Variable, "dynamodb", "TABLE/ELECTION")
	if err := r.Err(); err != nil {
		return nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("dynamodbstore: %w", err)
	}
	if cfg.Region == "" {
		return nil, errors.New("dynamodbstore: there is no region: set AWS_REGION")
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

// attempts bounds how often a record is sent: a renewal may collide with it.
const attempts = 5

// write stores r in one transaction with the condition that l is the current reign.
func (j *journal) write(ctx context.Context, l *core.Leadership, r store.Record) (bool, error) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(rand.Text()), // so that a lost answer does not make two of it
		TransactItems: []types.TransactWriteItem{{Update: &types.Update{
			TableName:           &j.table,
			Key:                 map[string]types.AttributeValue{"election": text(RecordKey(j.election, r.Slot))},
			UpdateExpression:    aws.String("SET slot=:s,leader_id=:l,fencing_token=:f,done_at=:d"),
			ConditionExpression: aws.String("attribute_not_exists(election)"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":s": text(r.Slot), ":l": text(r.LeaderID), ":d": text(r.DoneAt.UTC().Format(time.RFC3339Nano)),
				":f": &types.AttributeValueMemberN{Value: strconv.FormatInt(r.FencingToken, 10)},
			},
		}}},
	}
	for try := 1; ; try++ {
		_, err := j.decider.WriteFenced(ctx, j.client, l, in)
		var canceled *types.TransactionCanceledException
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrTermExpired), errors.Is(err, core.ErrBroken):
			return false, fmt.Errorf("dynamodbstore: the record of slot %s was not stored: %w", r.Slot, err)
		case errors.As(err, &canceled) && len(canceled.CancellationReasons) > 0 &&
			aws.ToString(canceled.CancellationReasons[0].Code) == "ConditionalCheckFailed":
			return false, nil
		case try == attempts:
			return false, fmt.Errorf("dynamodbstore: the record of slot %s may not be stored: %w", r.Slot, err)
		}
		select {
		case <-time.After(time.Duration(try) * 50 * time.Millisecond):
		case <-ctx.Done():
			return false, fmt.Errorf("dynamodbstore: the record of slot %s may not be stored: %w: %w", r.Slot, context.Cause(ctx), err)
		}
	}
}
