package s3decider

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
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
	w := newWire(t, stored(testETag, sampleBody(t)))
	d := NewDecider(newTestClient(t, w.URL, nil, func(o *s3.Options) { o.Retryer = busy{aws.NopRetryer{}} }), testBucket, testKey, nil)
	for _, op := range []operation{create, overwrite} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if _, err := askContext(ctx, d, op); err != nil {
			t.Errorf("%s waited for the client's other calls: %v", op, err)
		}
		cancel()
	}
}
