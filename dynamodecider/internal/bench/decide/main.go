// The program decide takes an election that is free, and ends: what a short-lived
// worker does first. It is measured against the program bare.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/dynamodecider"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: decide ELECTION")
		os.Exit(2)
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	_, err = core.Config{
		Decider:  dynamodecider.NewDecider(dynamodb.NewFromConfig(cfg), "elections", os.Args[1], nil),
		LeaderID: "worker-1",
	}.TryAcquire(ctx)
	return err
}
