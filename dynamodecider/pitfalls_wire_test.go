package dynamodecider

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
)

// cosmos-db-design-patterns#91: the time to live of the lock's document removed it,
// and its fence number began again. DynamoDB's TTL takes any attribute that is a
// number of seconds: no time of ours is one, and a reign never removes the item.
func TestPitfall_NothingForATTL(t *testing.T) {
	s := newEmulator(t)
	d := NewDecider(s.Client(s.client(t)), testTable, testName, nil)
	var last int64
	for range 3 {
		l, err := core.Config{LeaderID: "a", TermLength: time.Hour, ManualRenew: true, Decider: d}.Campaign(context.Background())
		must(t, err)
		if l.FencingToken() <= last {
			t.Errorf("fencing token %d after %d", l.FencingToken(), last)
		}
		last = l.FencingToken()
		must(t, l.Renew(context.Background()))
		must(t, l.Resign(context.Background()))
		it, err := s.Item(testTable, keyOf(testName))
		must(t, err)
		for name, value := range it {
			_, number := value.(*types.AttributeValueMemberN)
			if counts := name == attrVersion || name == attrElectionNumber || name == attrFencingToken; number != counts {
				t.Errorf("%s is stored as %T", name, value)
			}
		}
	}
}
