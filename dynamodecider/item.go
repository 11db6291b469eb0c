package dynamodecider

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core/entry"
)

// The attributes of an election's item, in the order in which a person would
// want to read them. None is one of DynamoDB's reserved words, so expressions can
// name them as they are ("Reserved words in DynamoDB"). Attributes may be added to a
// format version, never renamed or given another meaning.
const (
	attrElection         = "election" // the partition key
	attrVersion          = "cloudelect"
	attrLeaderID         = "leader_id"
	attrHostPort         = "host_port"
	attrTermExpiry       = "term_expiry"
	attrTermLength       = "term_length"
	attrSentBy           = "sent_by"
	attrElectionNumber   = "election_number"
	attrFencingToken     = "fencing_token"
	attrNonce            = "nonce"
	attrConnectionParams = "connection_params"
	attrCheckpoint       = "checkpoint"
	attrHeld             = "held"
)

// own are all of them but the key.
var own = [...]string{
	attrVersion, attrLeaderID, attrHostPort, attrTermExpiry, attrTermLength, attrSentBy,
	attrElectionNumber, attrFencingToken, attrNonce, attrConnectionParams, attrCheckpoint, attrHeld,
}

type item = map[string]types.AttributeValue

func keyOf(name string) item { return item{attrElection: text(name)} }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
func binary(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

// format writes a time as RFC 3339 in UTC, with nanoseconds.
func format(t time.Time) types.AttributeValue { return text(t.UTC().Format(time.RFC3339Nano)) }

// null stands for a field that is empty. Attributes are never removed, so that
// every write has the same expression, and a person sees which fields there are.
var null types.AttributeValue = &types.AttributeValueMemberNULL{Value: true}

func orNull(has bool, value types.AttributeValue) types.AttributeValue {
	if has {
		return value
	}
	return null
}

// assign is the update that makes an item be an entry, whatever it was before,
// and leaves the attributes of others alone. Placeholders are one letter each: every
// byte of a request is signed.
const assign = "SET " + attrVersion + "=:v," + attrLeaderID + "=:l," + attrHostPort + "=:h," +
	attrTermExpiry + "=:x," + attrTermLength + "=:t," + attrSentBy + "=:s," + attrElectionNumber + "=:e," +
	attrFencingToken + "=:f," + attrNonce + "=:n," + attrConnectionParams + "=:p," + attrCheckpoint + "=:c," + attrHeld + "=:d"

// assigned are the values of assign, with room for one of a condition.
func assigned(e *entry.RaceEntry) item {
	hosts := make([]types.AttributeValue, len(e.HostPort))
	for i, h := range e.HostPort {
		hosts[i] = text(h)
	}
	values := make(item, len(own)+1)
	values[":v"] = number(entry.FormatVersion)
	values[":l"] = text(e.LeaderID)
	values[":h"] = orNull(len(hosts) > 0, &types.AttributeValueMemberL{Value: hosts})
	values[":x"] = format(e.TermExpiry)
	values[":t"] = text(e.TermLength.String())
	values[":s"] = null
	if !e.SentBy.IsZero() {
		values[":s"] = format(e.SentBy)
	}
	values[":e"] = number(int64(e.ElectionNumber))
	values[":f"] = number(e.FencingToken)
	values[":n"] = text(e.Nonce)
	values[":p"] = orNull(len(e.ConnectionParams) > 0, &types.AttributeValueMemberB{Value: e.ConnectionParams})
	values[":c"] = orNull(len(e.Checkpoint) > 0, &types.AttributeValueMemberB{Value: e.Checkpoint})
	values[":d"] = &types.AttributeValueMemberBOOL{Value: e.Held}
	return values
}
