// The program dynamodb is a Lambda function that sends the requests of an election that
// is free, with the AWS SDK and nothing else: what lambda-worker is measured against.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg)
	take := func(ctx context.Context, _ json.RawMessage) error { return take(ctx, client, os.Getenv("ELECTION")) }
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" { // nobody to ask for an event
		if err := take(context.Background(), nil); err != nil {
			log.Fatal(err)
		}
		return
	}
	lambda.Start(take)
}

func take(ctx context.Context, client *dynamodb.Client, election string) error {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	key := map[string]types.AttributeValue{"election": text(election)}
	if _, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String("elections"), Key: key, ConsistentRead: aws.Bool(true),
	}); err != nil {
		return err
	}
	null := &types.AttributeValueMemberNULL{Value: true}
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("elections"), Key: key,
		UpdateExpression: aws.String("SET cloudelect=:v,leader_id=:l,host_port=:h,term_expiry=:x,term_length=:t,sent_by=:s," +
			"election_number=:e,fencing_token=:f,nonce=:n,connection_params=:p,checkpoint=:c,held=:d"),
		ConditionExpression: aws.String("attribute_not_exists(election)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":v": &types.AttributeValueMemberN{Value: "1"}, ":l": text("worker-1"), ":h": null,
			":x": text("2030-01-02T03:04:05.123456789Z"), ":t": text("15s"), ":s": text("2030-01-02T03:04:05.123456789Z"),
			":e": &types.AttributeValueMemberN{Value: "0"}, ":f": &types.AttributeValueMemberN{Value: "1735787045"},
			":n": text("AQ4GBN2PHQ4GBN2PHQ4GBN2PHQ"), ":p": null, ":c": null, ":d": &types.AttributeValueMemberBOOL{},
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}
