package dynamodb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/emulators/dynamodb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type item = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

var (
	table = "t"
	ctx   = context.Background()
)

func start(t *testing.T) (*dynamodb.Server, *sdk.Client) {
	t.Helper()
	server, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{table: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	own := &http.Transport{}
	t.Cleanup(func() { own.CloseIdleConnections(); server.Close() })
	return server, server.Client(&http.Client{Transport: own})
}

// update sets v, over the wire, on a condition.
func update(client *sdk.Client, key, v, condition string, more item) error {
	values := item{":v": num(v)}
	for name, value := range more {
		values[name] = value
	}
	expression := "SET v = :v"
	_, err := client.UpdateItem(ctx, &sdk.UpdateItemInput{
		TableName: &table, Key: item{"k": str(key)}, UpdateExpression: &expression,
		ConditionExpression: &condition, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

// TestFailedConditionReturnsTheItem, which is what deciders rely on.
func TestFailedConditionReturnsTheItem(t *testing.T) {
	_, client := start(t)
	if err := update(client, "a", "1", "attribute_not_exists(k)", nil); err != nil {
		t.Fatal(err)
	}
	err := update(client, "a", "2", "attribute_not_exists(k)", nil)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || len(failed.Item) != 2 {
		t.Fatalf("%v, item %v", err, failed)
	}
	err = update(client, "gone", "2", "v = :old", item{":old": num("1")})
	if failed = nil; !errors.As(err, &failed) || len(failed.Item) != 0 {
		t.Errorf("%v, item %v", err, failed)
	}
}

// TestNumbersAreExact: counters beyond what a float64 holds are stored and
// compared digit by digit.
func TestNumbersAreExact(t *testing.T) {
	server, client := start(t)
	const big, next = "1152921504606846977", "1152921504606846978"
	if err := update(client, "a", big, "attribute_not_exists(k)", nil); err != nil {
		t.Fatal(err)
	}
	got, err := server.Item(table, item{"k": str("a")})
	if n, ok := got["v"].(*types.AttributeValueMemberN); err != nil || !ok || n.Value != big {
		t.Errorf("stored %v, %v", got, err)
	}
	if err := update(client, "a", "0", "v = :old", item{":old": num(next)}); err == nil {
		t.Error("another number is taken for equal")
	}
}

// TestConditionsUnderConcurrency: many writers on one version, one wins, every time.
func TestConditionsUnderConcurrency(t *testing.T) {
	_, client := start(t)
	if err := update(client, "a", "0", "attribute_not_exists(k)", nil); err != nil {
		t.Fatal(err)
	}
	for round := range 20 {
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				err := update(client, "a", fmt.Sprint(round+1), "v = :old", item{":old": num(fmt.Sprint(round))})
				var failed *types.ConditionalCheckFailedException
				switch {
				case err == nil:
					won.Add(1)
				case !errors.As(err, &failed):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("round %d: %d winners", round, won.Load())
		}
	}
}

// TestTransaction: all or nothing, and the reason says which part failed.
func TestTransaction(t *testing.T) {
	server, client := start(t)
	for _, key := range []string{"fence", "data"} {
		if err := server.Plant(table, item{"k": str(key), "v": num("1")}); err != nil {
			t.Fatal(err)
		}
	}
	run := func(fence string) error {
		set, condition := "SET v = :v", "v = :f"
		_, err := client.TransactWriteItems(ctx, &sdk.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: &table, Key: item{"k": str("data")}, UpdateExpression: &set, ExpressionAttributeValues: item{":v": num("2")}}},
			{Put: &types.Put{TableName: &table, Item: item{"k": str("more")}}},
			{ConditionCheck: &types.ConditionCheck{TableName: &table, Key: item{"k": str("fence")}, ConditionExpression: &condition,
				ExpressionAttributeValues:           item{":f": num(fence)},
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}},
		}})
		return err
	}
	data := func() string {
		t.Helper()
		got, err := server.Item(table, item{"k": str("data")})
		if err != nil {
			t.Fatal(err)
		}
		return got["v"].(*types.AttributeValueMemberN).Value
	}
	var cancelled *types.TransactionCanceledException
	if err := run("9"); !errors.As(err, &cancelled) {
		t.Fatal(err)
	}
	if r := cancelled.CancellationReasons; len(r) != 3 || *r[0].Code != "None" || *r[2].Code != "ConditionalCheckFailed" || len(r[2].Item) != 2 {
		t.Errorf("reasons %+v", r)
	}
	if more, err := server.Item(table, item{"k": str("more")}); data() != "1" || more != nil || err != nil {
		t.Errorf("a cancelled transaction left data %s and %v (%v)", data(), more, err)
	}
	if err := run("1"); err != nil || data() != "2" {
		t.Errorf("%v, data %s", err, data())
	}
}

// TestAnswers: a Date on success and on errors, and words for what is unknown.
func TestAnswers(t *testing.T) {
	server, client := start(t)
	out, err := client.GetItem(ctx, &sdk.GetItemInput{TableName: &table, Key: item{"k": str("none")}})
	if err != nil || len(out.Item) != 0 {
		t.Fatal(out, err)
	}
	if _, ok := middleware.GetServerTime(out.ResultMetadata); !ok {
		t.Error("no Date")
	}
	_, err = client.DescribeTimeToLive(ctx, &sdk.DescribeTimeToLiveInput{TableName: &table})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "UnknownOperationException" {
		t.Errorf("%v", err)
	}
	missing := "missing"
	_, err = client.GetItem(ctx, &sdk.GetItemInput{TableName: &missing, Key: item{"k": str("none")}})
	var none *types.ResourceNotFoundException
	if !errors.As(err, &none) {
		t.Errorf("%v", err)
	}
	answer, err := http.Post(server.URL(), "text/plain", bytes.NewReader(nil)) // no operation at all
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest || answer.Header.Get("Date") == "" {
		t.Errorf("%d, Date %q", answer.StatusCode, answer.Header.Get("Date"))
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestRawItems(t *testing.T) {
	server, _ := start(t)
	key := item{"k": str("a")}
	if err := server.Plant(table, item{"k": str("a"), "x": &types.AttributeValueMemberB{Value: []byte{0, 255}}}); err != nil {
		t.Fatal(err)
	}
	got, err := server.Item(table, key)
	if b, ok := got["x"].(*types.AttributeValueMemberB); err != nil || !ok || !bytes.Equal(b.Value, []byte{0, 255}) {
		t.Errorf("%v, %v", got, err)
	}
	for range 2 {
		if err := server.Delete(table, key); err != nil {
			t.Error(err)
		}
	}
	if got, err := server.Item(table, key); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if err := server.DeleteTable(table); err != nil {
		t.Error(err)
	}
	var none *types.ResourceNotFoundException
	for what, err := range map[string]error{
		"plant": server.Plant(table, key), "delete table": server.DeleteTable(table),
	} {
		if !errors.As(err, &none) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if server.DeleteTable("") == nil {
		t.Error("no name is accepted")
	}
}

func TestStartFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		opts dynamodb.Options
		says string
	}{
		{"everybody's address", dynamodb.Options{Addr: "0.0.0.0:0"}, "loopback"},
		{"no port", dynamodb.Options{Addr: "127.0.0.1"}, "host:port"},
		{"a key without a name", dynamodb.Options{Tables: map[string]string{"t": ""}}, "create table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, err := dynamodb.Start(&c.opts)
			if err == nil {
				server.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not mention %q", err, c.says)
			}
		})
	}
}
