package dynamodecider

import (
	"context"
	"strings"
	"testing"
)

// page is what a proxy answers in DynamoDB's name.
const page = "<!DOCTYPE html><html><title>Error</title>no access</html>"

const (
	deniedUpdate = "User: arn:aws:sts::1:assumed-role/r/s is not authorized to perform: dynamodb:UpdateItem on resource: arn:aws:dynamodb:eu-west-1:1:table/elections because no identity-based policy allows the dynamodb:UpdateItem action"
	deniedKMS    = "User: arn:aws:sts::1:assumed-role/r/s is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:eu-west-1:1:key/k"
	wrongSecret  = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method."
	tooLate      = "Signature expired: 20300506T000000Z is now earlier than 20310506T070309Z (20310506T070809Z - 5 min.)"
	tooEarly     = "Signature not yet current: 20320506T000000Z is still later than 20310506T071309Z (20310506T070809Z + 5 min.)"
)

// TestOutcomes sends every kind of answer over the wire, once for each
// operation that can meet it.
func TestOutcomes(t *testing.T) {
	all, writes, reads := []operation{opRead, opWrite}, []operation{opWrite}, []operation{opRead}
	for _, c := range []struct {
		name   string
		ops    []operation
		status int
		body   string
		want   outcome
		says   string // what the error tells the reader to look at
	}{
		{"condition failed", writes, 400, refusal("ConditionalCheckFailedException", "The conditional request failed"), isLost, "read what is stored"},
		{"condition failed on a read", reads, 400, refusal("ConditionalCheckFailedException", "no"), isUnknown, "endpoint"},

		{"throughput", all, 400, refusal("ProvisionedThroughputExceededException", "The level of configured provisioned throughput for the table was exceeded."), isUnknown, "capacity"},
		{"throttled", all, 400, refusal("ThrottlingException", "Rate of requests exceeds the allowed throughput."), isUnknown, "capacity"},
		{"account limit", all, 400, refusal("RequestLimitExceeded", "Throughput exceeds the current throughput limit for your account."), isUnknown, "account"},
		{"collides with a transaction", all, 400, refusal("TransactionConflictException", "Transaction is ongoing for the item"), isUnknown, "transaction"},
		{"collides with a transaction, being retried", writes, 400, refusal("TransactionInProgressException", "no"), isUnknown, "transaction"},
		{"another Region's write", writes, 400, refusal("ReplicatedWriteConflictException", "no"), isUnknown, "Region"},
		{"table being changed", all, 400, refusal("ResourceInUseException", "no"), isUnknown, "table"},
		{"internal error", all, 500, refusal("InternalServerError", "Internal server error"), isUnknown, ""},
		{"internal failure", all, 500, refusal("InternalFailure", "no"), isUnknown, ""},
		{"unavailable", all, 503, refusal("ServiceUnavailable", "no"), isUnknown, ""},
		{"unavailable, as a page", all, 503, page, isUnknown, ""},
		{"bad gateway", all, 502, page, isUnknown, ""},
		{"gateway timeout", all, 504, "", isUnknown, ""},
		{"too many requests, by a proxy", all, 429, page, isUnknown, "proxy"},
		{"something new", all, 400, refusal("SomethingNewException", "no"), isUnknown, ""},

		{"no table", all, 400, refusal("ResourceNotFoundException", "Requested resource not found"), isBroken, `table "elections" does not exist in region "eu-west-1"`},
		{"denied", writes, 400, refusal("AccessDeniedException", deniedUpdate), isBroken, "grant dynamodb:UpdateItem on table"},
		{"denied without a word, read", reads, 400, refusal("AccessDeniedException", ""), isBroken, "grant dynamodb:GetItem on table"},
		{"denied without a word, write", writes, 400, refusal("AccessDeniedException", ""), isBroken, "grant dynamodb:UpdateItem on table"},
		{"key denied", all, 400, refusal("AccessDeniedException", deniedKMS), isBroken, "kms:Decrypt"},
		{"key denied, by its own name", all, 400, refusal("KMSAccessDeniedException", "no"), isBroken, "KMS key"},
		{"key disabled", all, 400, refusal("KMSDisabledException", "no"), isBroken, "enable it"},
		{"key throttled", all, 400, refusal("KMSThrottlingException", "Rate exceeded"), isUnknown, "KMS key"},
		{"unknown access key", all, 400, refusal("UnrecognizedClientException", "The security token included in the request is invalid."), isBroken, "access key"},
		{"unsigned", all, 400, refusal("MissingAuthenticationTokenException", "Request is missing Authentication Token"), isBroken, "credentials"},
		{"account not signed up", all, 403, refusal("SubscriptionRequiredException", "no"), isBroken, "signed up"},

		{"another key", all, 400, refusal("ValidationException", "The provided key element does not match the schema"), isBroken, `partition key of table "elections" must be the string "election"`},
		{"a sort key", all, 400, refusal("ValidationException", "The number of conditions on the keys is invalid"), isBroken, "no sort key"},
		{"too large", writes, 400, refusal("ValidationException", "Item size to update has exceeded the maximum allowed size"), isBroken, "too large"},
		{"collection too large", writes, 400, refusal("ItemCollectionSizeLimitExceededException", "no"), isBroken, "too large"},
		{"invalid", all, 400, refusal("ValidationException", "1 validation error detected"), isBroken, "correct what the answer names"},
		{"unknown operation", all, 400, refusal("UnknownOperationException", ""), isBroken, "endpoint"},
		{"not understood", all, 400, refusal("SerializationException", ""), isBroken, "endpoint"},

		{"slow host", all, 400, refusal("InvalidSignatureException", tooLate), isUnknown, "clock"},
		{"fast host", all, 400, refusal("InvalidSignatureException", tooEarly), isUnknown, "clock"},
		{"time too skewed", all, 403, refusal("RequestTimeTooSkewed", "no"), isUnknown, "clock"},
		{"expired session", all, 400, refusal("ExpiredTokenException", "The security token included in the request is expired"), isUnknown, "expired"},

		{"somebody's page for a 403", all, 403, page, isUnknown, "proxy"},
		{"somebody's page for a 404", all, 404, page, isUnknown, "proxy"},
		{"somebody's page for a 200", all, 200, page, isUnknown, ""},
		{"somebody's empty 200", all, 200, "", isUnknown, "proxy"},
		{"a redirect", all, 307, "", isUnknown, "proxy"},
		{"a server of another kind", all, 405, "no", isBroken, "endpoint"},
		{"too large for a proxy", writes, 413, page, isBroken, "endpoint"},
		{"not implemented", all, 501, refusal("NotImplemented", "no"), isBroken, "endpoint"},
		{"cut off", all, 200, `{"Item":{"ele`, isUnknown, ""},
	} {
		for _, op := range c.ops {
			t.Run(c.name+", "+op.String(), func(t *testing.T) {
				t.Parallel()
				w := newWire(t, saying(c.status, c.body))
				e, err := ask(context.Background(), w.decider(t), op)
				checkOutcome(t, c.want, e, err)
				if err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error does not mention %q: %v", c.says, err)
				}
				if n := len(w.seen()); n != 1 {
					t.Errorf("%d requests", n)
				}
			})
		}
	}
}
