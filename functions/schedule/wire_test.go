package schedule_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/dynamodecider"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	s3emulator "github.com/cloudelect/cloudelect/emulators/s3"
	"github.com/cloudelect/cloudelect/functions/schedule"
	"github.com/cloudelect/cloudelect/s3decider"
)

// counter counts the requests at the wire.
type counter struct {
	http.Transport
	n atomic.Int32
}

func (c *counter) Do(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTrip(r)
}

// What a slot costs, and that these stores tell Every the time, also when nothing
// is stored yet.
func TestRequestsAtTheWire(t *testing.T) {
	defer goleak.VerifyNone(t)
	dynamo, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
	if err != nil {
		t.Fatal(err)
	}
	defer dynamo.Close()
	buckets, err := s3emulator.Start(&s3emulator.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	defer buckets.Close()
	wire := new(counter)
	defer wire.CloseIdleConnections()
	s3Client := s3.New(s3.Options{
		BaseEndpoint: aws.String(buckets.URL()), UsePathStyle: true, HTTPClient: wire,
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	for name, decider := range map[string]func(key string) core.RaceDecider{
		"dynamodb": func(key string) core.RaceDecider {
			return dynamodecider.NewDecider(dynamo.Client(wire), "elections", key, nil)
		},
		"s3": func(key string) core.RaceDecider {
			return s3decider.NewDecider(s3Client, "elections", key, nil)
		},
	} {
		for policy, first := range map[schedule.Policy]int32{schedule.Retry: 3, schedule.Skip: 4} {
			c := schedule.Config{OnFailure: policy, MaxAhead: 100 * 24 * time.Hour,
				Election: core.Config{LeaderID: "a", Decider: decider(name + string(rune('0'+policy)))}}
			day := schedule.Every(7*24*time.Hour, nil)
			for _, step := range []struct {
				what     string
				slot     schedule.Slot
				outcome  schedule.Outcome
				requests int32
			}{
				{"the first slot", day, schedule.Ran, first},
				{"a later one", schedule.At(time.Now().Add(14 * 24 * time.Hour)), schedule.Ran, 3},
				{"a duplicate", day, schedule.Stale, 1},
			} {
				wire.n.Store(0)
				res, err := c.Run(context.Background(), step.slot, func(context.Context, *schedule.Run) error { return nil })
				if err != nil || res.Outcome != step.outcome || wire.n.Load() != step.requests {
					t.Errorf("%s, policy %d, %s: %v, %v, %d requests; want %v and %d",
						name, policy, step.what, res, err, wire.n.Load(), step.outcome, step.requests)
				}
			}
		}
	}
}
