// The program s3 is a Lambda function that sends the requests of an election that is
// free, with the AWS SDK and nothing else: what lambda-worker is measured against.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle, o.RequestChecksumCalculation = true, aws.RequestChecksumCalculationWhenRequired
	})
	take := func(ctx context.Context, _ json.RawMessage) error { return take(ctx, client, os.Getenv("ELECTION")) }
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" { // nobody to ask for an event
		if err := take(context.Background(), nil); err != nil {
			log.Fatal(err)
		}
		return
	}
	lambda.Start(take)
}

func take(ctx context.Context, client *s3.Client, key string) error {
	var missing *types.NoSuchKey
	got, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("elections"), Key: &key})
	if err == nil {
		return errors.Join(got.Body.Close(), errors.New("it is taken"))
	}
	if !errors.As(err, &missing) {
		return err
	}
	at := time.Unix(1893456000, 0).UTC() // any: it is the size that counts
	body, err := json.MarshalIndent(map[string]any{
		"cloudelect": 1, "leader_id": "bench", "term_expiry": at.Add(15 * time.Second), "term_length": "15s",
		"sent_by": at, "election_number": 0, "fencing_token": at.Unix(), "nonce": rand.Text(),
	}, "", "  ")
	if err != nil {
		return err
	}
	_, err = client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String("elections"), Key: &key, Body: strings.NewReader(string(body)), IfNoneMatch: aws.String("*"),
		ContentType: aws.String("application/json"), CacheControl: aws.String("no-store"),
	})
	return err
}
