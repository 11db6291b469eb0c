package dynamodecider

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/cloudelect/cloudelect/core"
)

func TestCreateTableOnTheEmulator(t *testing.T) {
	s := newEmulator(t)
	client := s.Client(s.client(t))
	ctx := context.Background()
	for range 2 { // the second time it is there
		if err := CreateTable(ctx, client, "new-table"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewDecider(client, "new-table", testName, nil).WriteEntry(ctx, sampleEntry(absentToken(time.Time{}))); err != nil {
		t.Errorf("the new table cannot be used: %v", err)
	}
	must(t, s.CreateTable("other-key", "id"))
	must(t, s.Plant("other-key", item{"id": text("x")}))
	err := CreateTable(ctx, client, "other-key")
	if !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "table other-key") || !strings.Contains(err.Error(), "the table's key is id (HASH)") {
		t.Errorf("%v", err)
	}
	if it, err := s.Item("other-key", item{"id": text("x")}); err != nil || it == nil {
		t.Errorf("the table was not left alone: %v, %v", it, err)
	}
	// A decider on it says so as well.
	for _, op := range []operation{opRead, opWrite} {
		_, err := ask(ctx, NewDecider(client, "other-key", testName, nil), op)
		if !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), `must be the string "election"`) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// script is a TableAPI that answers DescribeTable with one thing after the
// other, the last for ever.
type script struct {
	looks   []func() (*types.TableDescription, error)
	create  error
	created []*dynamodb.CreateTableInput
	looked  int
}

func (s *script) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	look := s.looks[min(s.looked, len(s.looks)-1)]
	s.looked++
	t, err := look()
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeTableOutput{Table: t}, nil
}

func (s *script) CreateTable(_ context.Context, in *dynamodb.CreateTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	s.created = append(s.created, in)
	return &dynamodb.CreateTableOutput{}, s.create
}

func described(status types.TableStatus, keys ...types.KeySchemaElement) func() (*types.TableDescription, error) {
	if keys == nil {
		keys = []types.KeySchemaElement{{AttributeName: aws.String(attrElection), KeyType: types.KeyTypeHash}}
	}
	return func() (*types.TableDescription, error) {
		return &types.TableDescription{TableStatus: status, KeySchema: keys}, nil
	}
}

func failed(err error) func() (*types.TableDescription, error) {
	return func() (*types.TableDescription, error) { return nil, err }
}

func TestCreateTable(t *testing.T) {
	type looks = []func() (*types.TableDescription, error)
	none := failed(&types.ResourceNotFoundException{})
	denied := &smithy.GenericAPIError{Code: "AccessDeniedException"}
	oddType := func() (*types.TableDescription, error) {
		d, _ := described("ACTIVE")()
		d.AttributeDefinitions = []types.AttributeDefinition{{AttributeName: aws.String(attrElection), AttributeType: "N"}}
		return d, nil
	}
	for _, c := range []struct {
		name    string
		looks   looks
		create  error
		creates int
		says    string // "": no error
		is      error
	}{
		{"exists", looks{described("ACTIVE")}, nil, 0, "", nil},
		{"exists, being changed", looks{described("UPDATING")}, nil, 0, "", nil},
		{"exists, no status", looks{described("")}, nil, 0, "", nil},
		{"exists, no key described", looks{described("ACTIVE", []types.KeySchemaElement{}...)}, nil, 0, "", nil},
		{"somebody creates it", looks{described("CREATING"), described("CREATING"), described("ACTIVE")}, nil, 0, "", nil},
		{"new", looks{none, none, described("CREATING"), described("ACTIVE")}, nil, 1, "", nil},
		{"new, no status", looks{none, described("")}, nil, 1, "", nil},
		{"somebody was faster", looks{none, described("CREATING"), described("ACTIVE")}, &types.ResourceInUseException{}, 1, "", nil},
		{"never becomes active", looks{none, described("CREATING")}, nil, 1, "not active after 5m0s", context.DeadlineExceeded},
		{"never found", looks{none}, nil, 1, "not active after 5m0s", context.DeadlineExceeded},
		{"being deleted", looks{described("DELETING")}, nil, 0, "when it is gone", nil},
		{"key unusable", looks{described("INACCESSIBLE_ENCRYPTION_CREDENTIALS")}, nil, 0, "INACCESSIBLE_ENCRYPTION_CREDENTIALS", core.ErrBroken},
		{"a sort key", looks{described("ACTIVE", types.KeySchemaElement{AttributeName: aws.String("election"), KeyType: "HASH"}, types.KeySchemaElement{AttributeName: aws.String("at"), KeyType: "RANGE"})}, nil, 0, "election (HASH), at (RANGE)", core.ErrBroken},
		{"another type", looks{oddType}, nil, 0, "is of type N", core.ErrBroken},
		{"may not describe", looks{failed(denied)}, nil, 0, "grant dynamodb:DescribeTable on table", core.ErrBroken},
		{"may not create", looks{none}, denied, 1, "grant dynamodb:CreateTable on table", core.ErrBroken},
		{"too many at once", looks{none}, &types.LimitExceededException{}, 1, "try again", nil},
		{"a client that says nothing", looks{func() (*types.TableDescription, error) { return nil, nil }}, nil, 0, "neither an answer", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{looks: c.looks, create: c.create}
				err := CreateTable(context.Background(), s, testTable)
				if len(s.created) != c.creates {
					t.Errorf("created %d times", len(s.created))
				}
				if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v does not mention %q", err, c.says)
				}
				if c.is != nil && !errors.Is(err, c.is) || c.is == nil && errors.Is(err, core.ErrBroken) {
					t.Errorf("%v is not %v", err, c.is)
				}
				for _, in := range s.created {
					if in.BillingMode != types.BillingModePayPerRequest || *in.TableName != testTable || len(in.KeySchema) != 1 {
						t.Errorf("created %+v", in)
					}
				}
			})
		})
	}
}

func TestCreateTableEnds(t *testing.T) {
	for _, cause := range causes {
		ctx, cancel := context.WithCancelCause(context.Background())
		s := &script{looks: []func() (*types.TableDescription, error){func() (*types.TableDescription, error) {
			cancel(cause)
			return described("CREATING")()
		}}}
		if err := CreateTable(ctx, s, testTable); !errors.Is(err, context.Canceled) || errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
		if err := CreateTable(ctx, s, testTable); !errors.Is(err, context.Canceled) || errors.Is(err, cause) {
			t.Errorf("ended before: %v", err)
		}
	}
}

func TestCreateTableMisuse(t *testing.T) {
	var none *dynamodb.Client
	for name, err := range map[string]error{
		"nil client":    CreateTable(context.Background(), nil, testTable),
		"nil pointer":   CreateTable(context.Background(), none, testTable),
		"empty client":  CreateTable(context.Background(), &dynamodb.Client{}, testTable),
		"no name":       CreateTable(context.Background(), &script{}, ""),
		"not a name":    CreateTable(context.Background(), &script{}, "a/b/c"),
		"something ARN": CreateTable(context.Background(), &script{}, "arn:aws:s3:::bucket"),
	} {
		if !errors.Is(err, core.ErrInvalidConfig) || !errors.Is(err, core.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
