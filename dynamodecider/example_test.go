package dynamodecider_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/dynamodecider"
	emulator "github.com/cloudelect/cloudelect/emulators/dynamodb"
)

// emulated is a client for a store in this process. A program would make it with
// dynamodb.NewFromConfig.
func emulated() (client *dynamodb.Client, done func()) {
	server, err := emulator.Start(nil)
	if err != nil {
		panic(err) // an example has nobody to return it to
	}
	transport := &http.Transport{}
	return server.Client(&http.Client{Transport: transport}), func() {
		transport.CloseIdleConnections()
		server.Close()
	}
}

func Example() {
	client, done := emulated()
	defer done()
	ctx := context.Background()
	if err := dynamodecider.CreateTable(ctx, client, "elections"); err != nil {
		fmt.Println(err)
		return
	}
	election := core.Config{
		Decider:  dynamodecider.NewDecider(client, "elections", "nightly", nil),
		LeaderID: "worker-1",
	}
	err := election.RunAsLeader(ctx, func(ctx context.Context, l *core.Leadership) error {
		fmt.Println(l.Entry().LeaderID, "leads")
		return nil
	})
	fmt.Println(err)
	// Output:
	// worker-1 leads
	// <nil>
}

// A leader writes to its ledger on the condition that it still leads. When somebody
// else has led since, nothing is written.
func ExampleDecider_WriteFenced() {
	client, done := emulated()
	defer done()
	ctx := context.Background()
	for _, table := range []string{"elections", "ledger"} {
		if err := dynamodecider.CreateTable(ctx, client, table); err != nil { // the ledger's key is "election", too
			fmt.Println(err)
			return
		}
	}
	decider := dynamodecider.NewDecider(client, "elections", "nightly", nil)
	first, err := core.Config{Decider: decider, LeaderID: "worker-1"}.Campaign(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	book := func(l *core.Leadership, text string) error {
		_, err := decider.WriteFenced(ctx, client, l, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{{Put: &types.Put{
				TableName: aws.String("ledger"),
				Item: map[string]types.AttributeValue{
					"election": &types.AttributeValueMemberS{Value: "page 1"},
					"text":     &types.AttributeValueMemberS{Value: text},
				},
			}}},
		})
		return err
	}
	fmt.Println(book(first, "by the first leader"))

	if err := first.Resign(ctx); err != nil {
		fmt.Println(err)
		return
	}
	second, err := core.Config{Decider: decider, LeaderID: "worker-2"}.Campaign(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer second.Resign(ctx)
	fmt.Println(errors.Is(book(first, "too late"), core.ErrLeadershipLost))
	fmt.Println(book(second, "by the second leader"))
	// Output:
	// <nil>
	// true
	// <nil>
}

// FenceCheck is for those who put together their transactions themselves: beside an
// update that has a condition of its own, say.
func ExampleDecider_FenceCheck() {
	client, done := emulated()
	defer done()
	ctx := context.Background()
	if err := dynamodecider.CreateTable(ctx, client, "elections"); err != nil {
		fmt.Println(err)
		return
	}
	decider := dynamodecider.NewDecider(client, "elections", "nightly", nil)
	l, err := core.Config{Decider: decider, LeaderID: "worker-1"}.Campaign(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Resign(ctx)
	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			decider.FenceCheck(l),
			{Update: &types.Update{
				TableName:        aws.String("elections"), // a table may hold anything
				Key:              map[string]types.AttributeValue{"election": &types.AttributeValueMemberS{Value: "counter"}},
				UpdateExpression: aws.String("SET jobs = :n"),
				ExpressionAttributeValues: map[string]types.AttributeValue{
					":n": &types.AttributeValueMemberN{Value: "1"},
				},
			}},
		},
	})
	fmt.Println(err)
	// Output: <nil>
}

// A version that a message has named is the condition for replacing just that.
func ExampleDecider_TokenFor() {
	decider := dynamodecider.NewDecider(nil, "elections", "nightly", nil)
	token, err := decider.TokenFor("nonce:AQ4GBN2P")
	fmt.Println(token, err)
	// Output: nonce:AQ4GBN2P <nil>
}
