package dynamodecider

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// busy is the retryer of a client whose other calls have used up what its rate
// limiter allows for now, as in the SDK's adaptive mode.
type busy struct{ aws.RetryerV2 }

func (busy) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// kubernetes-sigs/karpenter#2100: a rate limiter that all calls of a client shared held
// renewals back until the lease was lost.
func TestPitfall_SharedRateLimiter(t *testing.T) {
	w := newWire(t, saying(200, "{}"))
	client := w.client(t, func(o *dynamodb.Options) { o.Retryer = busy{aws.NopRetryer{}} })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := NewDecider(client, testTable, testName, nil).WriteEntry(ctx, sampleEntry(absentToken(time.Time{}))); err != nil {
		t.Errorf("a write waited for the client's other calls: %v", err)
	}
}
