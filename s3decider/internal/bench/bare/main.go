// Command bare sends the requests of decide with the SDK alone: a read that finds
// nothing, and a write on the condition that this is still so. Compare it with decide.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: bare ENDPOINT BUCKET KEY")
		os.Exit(2)
	}
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(os.Args[1]), UsePathStyle: true, Region: "us-east-1",
		Credentials:                credentials.NewStaticCredentialsProvider("KEY", "secret", ""),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	})
	if err := take(context.Background(), client, &os.Args[2], &os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func take(ctx context.Context, client *s3.Client, bucket, key *string) error {
	var missing *types.NoSuchKey
	got, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key})
	if err == nil {
		_, err = io.Copy(io.Discard, got.Body)
		return errors.Join(err, got.Body.Close(), errors.New("it is taken"))
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
		Bucket: bucket, Key: key, Body: strings.NewReader(string(body)), IfNoneMatch: aws.String("*"),
		ContentType: aws.String("application/json"), CacheControl: aws.String("no-store"),
	})
	return err
}
