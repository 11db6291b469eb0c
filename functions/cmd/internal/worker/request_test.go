package worker_test

import (
	"context"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// request is the context of an invocation, as the runtime makes it.
func request(ctx context.Context, id string) context.Context {
	return lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: id})
}
