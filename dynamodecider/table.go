package dynamodecider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
)

// TableAPI is what CreateTable asks of DynamoDB; *dynamodb.Client has it.
type TableAPI interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

var _ TableAPI = (*dynamodb.Client)(nil)

const (
	firstLook = 250 * time.Millisecond // after CreateTable; later looks are up to lastLook apart
	lastLook  = 4 * time.Second
	patience  = 5 * time.Minute // for a table to become active
)

// CreateTable makes sure that a table for elections exists: its partition key is
// the string "election", there is no sort key, and it is billed on demand. It
// returns nil once the table is active, and at once if it is there already. It waits
// five minutes at most; give ctx a deadline for less.
//
// It needs dynamodb:DescribeTable, and dynamodb:CreateTable if there is no such
// table. A table with another key is left alone: the error Is core.ErrBroken, and so
// is one about a denied or an invalid request. Tags, encryption, deletion protection
// and point-in-time recovery are the owner's to set.
func CreateTable(ctx context.Context, client TableAPI, table string) error {
	m := &maker{client: client, table: table, first: firstLook}
	fault := tableFault(table)
	if missing(client) {
		fault = "has no client; make one with dynamodb.NewFromConfig"
	}
	if fault != "" {
		return m.fail("create table: not sent", fmt.Errorf("the table %s %s", quote(table), fault),
			"correct the program or its configuration", core.ErrBroken, core.ErrInvalidConfig)
	}
	return m.run(ctx)
}

// maker is one run of CreateTable.
type maker struct {
	client TableAPI
	table  string
	first  time.Duration
}

func (m *maker) run(ctx context.Context) error {
	ready, err := m.look(ctx)
	if ready || err != nil && !absent(err) {
		return err
	}
	if absent(err) {
		if err := m.create(ctx); err != nil {
			return err
		}
	}
	return m.wait(ctx)
}

func (m *maker) create(ctx context.Context) error {
	_, err := m.client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   &m.table,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(attrElection), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(attrElection), KeyType: types.KeyTypeHash}},
	})
	var exists *types.ResourceInUseException // somebody was faster
	if err == nil || errors.As(err, &exists) {
		return nil
	}
	return m.explain(ctx, "create table", "dynamodb:CreateTable", err)
}

// wait looks until the table is active.
func (m *maker) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the table was not active after %v", patience))
	defer cancel()
	for pause := m.first; ; pause = min(2*pause, lastLook) {
		ready, err := m.look(ctx)
		// For a moment after it was created a table may not be found.
		if ready || err != nil && !absent(err) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return m.fail("wait for the table", fmt.Errorf("%w (%v)", ctx.Err(), context.Cause(ctx)), "call CreateTable again to go on waiting")
		}
	}
}

// look tells whether the table can be used. An error that is absent says that
// there is none.
func (m *maker) look(ctx context.Context) (ready bool, err error) {
	out, err := m.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &m.table})
	if err == nil && (out == nil || out.Table == nil) {
		err = errNoAnswer
	}
	if err != nil {
		return false, m.explain(ctx, "describe table", "dynamodb:DescribeTable", err)
	}
	if fault := keyFault(out.Table); fault != "" {
		return false, m.fail("describe table", errors.New(fault),
			fmt.Sprintf("use a table whose only key is the partition key %q, a string; this one was left as it is", attrElection), core.ErrBroken)
	}
	switch status := out.Table.TableStatus; status {
	case types.TableStatusActive, types.TableStatusUpdating, "": // "": some stores do not tell, and have no other state
		return true, nil
	case types.TableStatusCreating:
		return false, nil
	case types.TableStatusDeleting:
		return false, m.fail("describe table", errors.New("the table is being deleted"), "call CreateTable again when it is gone")
	default:
		return false, m.fail("describe table", fmt.Errorf("the table's status is %s", status), "see to the table, or use another one", core.ErrBroken)
	}
}

// keyFault says what is wrong with a table's key; "" if nothing is. Stores that do
// not describe the key, or its type, find out at the first request.
func keyFault(t *types.TableDescription) string {
	if len(t.KeySchema) == 0 {
		return ""
	}
	names := make([]string, len(t.KeySchema))
	for i, k := range t.KeySchema {
		names[i] = fmt.Sprintf("%s (%s)", aws.ToString(k.AttributeName), k.KeyType)
	}
	if k := t.KeySchema[0]; len(t.KeySchema) > 1 || aws.ToString(k.AttributeName) != attrElection || k.KeyType != types.KeyTypeHash {
		return "the table's key is " + strings.Join(names, ", ")
	}
	for _, a := range t.AttributeDefinitions {
		if aws.ToString(a.AttributeName) == attrElection && a.AttributeType != types.ScalarAttributeTypeS {
			return fmt.Sprintf("the table's key %s is of type %s", attrElection, a.AttributeType)
		}
	}
	return ""
}

func absent(err error) bool {
	var none *types.ResourceNotFoundException
	return errors.As(err, &none)
}

// explain words an error of the client.
func (m *maker) explain(ctx context.Context, what, action string, err error) error {
	if ctx.Err() != nil {
		return m.fail(what, fmt.Errorf("%w (%v)", ctx.Err(), context.Cause(ctx)), "no answer before the context ended: "+clip(err.Error()))
	}
	a, ok := answerIn(err)
	if ok && a.action == "" {
		a.action = action
	}
	d := &Decider{table: m.table}
	v := d.judgeError(opRead, err)
	if ok {
		v = d.judge(a, opRead)
	}
	if v.outcome == isBroken && !absent(err) {
		return m.fail(what, err, v.todo, core.ErrBroken)
	}
	return m.fail(what, err, v.todo)
}

func (m *maker) fail(what string, err error, todo string, is ...error) error {
	return &storeError{where: "table " + clip(m.table), what: what, err: err, todo: todo, is: is}
}
