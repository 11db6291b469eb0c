// Command decide takes one election, prints its fencing token, and leaves it to its
// term: a read and a write. Compare it with bare.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/s3decider"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: decide ENDPOINT BUCKET KEY")
		os.Exit(2)
	}
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(os.Args[1]), UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("KEY", "secret", ""),
	})
	l, err := core.Config{
		LeaderID: "bench", ManualRenew: true, Decider: s3decider.NewDecider(client, os.Args[2], os.Args[3], nil),
	}.TryAcquire(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.FencingToken())
}
