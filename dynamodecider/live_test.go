package dynamodecider

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"testing"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
)

// liveTable names a table of the real service, or of a compatible one at
// liveEndpoint, in which the tests may create and delete items. It is created if it
// does not exist. Region and credentials come from the usual places.
const (
	liveTable    = "CLOUDELECT_LIVE_DYNAMODB_TABLE"
	liveEndpoint = "CLOUDELECT_LIVE_DYNAMODB_ENDPOINT"
)

// TestLiveConformance runs the suite against DynamoDB. Lost answers and denials
// cannot be ordered there, so their cases are skipped.
func TestLiveConformance(t *testing.T) {
	table := os.Getenv(liveTable)
	if table == "" {
		t.Skipf("set %s to a table, and %s if it is not DynamoDB's own, to run this", liveTable, liveEndpoint)
	}
	client := liveClient(t)
	if err := CreateTable(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	decidertest.Run(t, decidertest.Harness{AllowSkips: true, New: func(t decidertest.TB) decidertest.Record {
		name := "cloudelect-test/" + rand.Text()
		ctx := context.WithoutCancel(t.Context())
		remove := func() error {
			_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: keyOf(name)})
			return err
		}
		t.Cleanup(func() {
			if err := remove(); err != nil {
				t.Logf("left behind: dynamodb://%s/%s: %v", table, name, err)
			}
		})
		return decidertest.Record{
			Open: func() core.RaceDecider { return NewDecider(client, table, name, nil) },
			Plant: func(content []byte) error {
				_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: planted(name, content)})
				return err
			},
			Delete: remove,
		}
	}})
}

func liveClient(t *testing.T) *dynamodb.Client {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The SDK's own client cannot be told to close its connections.
	own := awshttp.NewBuildableClient().GetTransport()
	if configured, ok := cfg.HTTPClient.(*awshttp.BuildableClient); ok {
		own = configured.GetTransport()
	}
	t.Cleanup(own.CloseIdleConnections)
	cfg.HTTPClient = &http.Client{Transport: own}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		if endpoint := os.Getenv(liveEndpoint); endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
}
