package s3decider_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	emulator "github.com/cloudelect/cloudelect/emulators/s3"
	"github.com/cloudelect/cloudelect/s3decider"
)

// A decider is made without a request; the election that it is given to
// (core.Config.Decider) sends the first.
func Example() {
	client := s3.New(s3.Options{Region: "eu-west-1"}) // usually s3.NewFromConfig
	decider := s3decider.NewDecider(client, "my-bucket", "elections/nightly", nil)
	fmt.Println(decider)
	// Output: s3://my-bucket/elections/nightly
}

// A version that a message has named is the condition for replacing just that.
func ExampleDecider_TokenFor() {
	decider := s3decider.NewDecider(nil, "my-bucket", "elections/nightly", nil)
	token, err := decider.TokenFor(`"9a0364b9e99bb480dd25e1f0284c8555"`)
	fmt.Println(token, err)
	// Output: "9a0364b9e99bb480dd25e1f0284c8555" <nil>
}

// A leader that was frozen, and thaws when another one leads, can do no harm to a
// fenced object.
func ExampleFencedObject() {
	server, err := emulator.Start(&emulator.Options{Buckets: []string{"my-bucket"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(server.URL()), UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})

	ctx := context.Background()
	report := s3decider.NewFencedObject(client, "my-bucket", "reports/latest", nil)
	fmt.Println(report.Write(ctx, 42, []byte("by the new leader"))) // 42 is its Leadership.FencingToken

	err = report.Write(ctx, 41, []byte("by the old leader"))
	fmt.Println(errors.Is(err, s3decider.ErrStaleToken))

	latest, err := report.Read(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, token %d\n", latest.Data, latest.Token)
	// Output:
	// <nil>
	// true
	// by the new leader, token 42
}
