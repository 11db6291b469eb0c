// Package dynamodecider keeps elections in a table of Amazon DynamoDB, or of a
// store that is compatible with it.
//
//	cfg, err := config.LoadDefaultConfig(ctx)
//	...
//	decider := dynamodecider.NewDecider(dynamodb.NewFromConfig(cfg), "elections", "nightly", nil)
//
// Each election is one item, with one attribute per field. It is created on the
// condition that it does not exist, and overwritten on the condition that its nonce
// is still the one that was read; reads are strongly consistent. Both hold within
// one Region. The replicas of a global table with multi-Region eventual consistency
// are separate stores: each could elect its own leader. Let all candidates use one
// Region, or a table with multi-Region strong consistency.
//
// # The item
//
//	election           string   partition key: the election's name
//	cloudelect         number   version of this form: 1
//	leader_id          string   empty: nobody leads
//	host_port          list     of strings
//	term_expiry        string   RFC 3339 in UTC, with nanoseconds
//	term_length        string   in Go's notation: 15s
//	sent_by            string   as term_expiry
//	election_number    number
//	fencing_token      number
//	nonce              string
//	connection_params  binary
//	checkpoint         binary
//	held               boolean
//
// What an entry does not have is null. Other attributes are nobody's business
// here: writes keep them and reads ignore them, so a table may also have an owner, or
// a time to live for its other items. Do not let time to live delete elections: an
// election whose item vanishes is closed for the longest term that was seen, and a
// leader hears of it with its next renewal. Nothing here uses it for expiry; the
// service deletes within days, not at the time.
//
// # What the table needs
//
//   - The partition key election, a string, and no sort key: [CreateTable].
//   - The permissions dynamodb:GetItem and dynamodb:UpdateItem; for fenced writes
//     dynamodb:ConditionCheckItem, for CreateTable dynamodb:DescribeTable and
//     dynamodb:CreateTable. They can be limited to single elections with the
//     condition key dynamodb:LeadingKeys.
//   - With a KMS key of the customer's own, kms:Decrypt on it. The key can be
//     disabled, which closes all elections.
//   - Capacity: a renewal is one write unit per KB of the item (attributes of
//     others included), a read one read unit per 4 KB. On demand there is nothing to
//     plan.
//
// [Decider.Probe] tries it on scratch items.
//
// # What an answer means
//
// After "Error handling with DynamoDB" and the operations' own errors in the
// DynamoDB documentation. Unknown is everything that is not proved: the write may
// have been stored, a read has told nothing.
//
//	answer                                     read               write
//	200                                        the entry, or      stored
//	                                           nothing there
//	200 that is no JSON                        unknown            unknown
//	ConditionalCheckFailedException            unknown            lost
//	ProvisionedThroughputExceededException,
//	    ThrottlingException,
//	    RequestLimitExceeded                   unknown            unknown
//	TransactionConflictException,
//	    TransactionInProgressException         unknown            unknown
//	ReplicatedWriteConflictException           unknown            unknown
//	ResourceInUseException                     unknown            unknown
//	InternalServerError, 429, any 5xx but 501  unknown            unknown
//	ResourceNotFoundException                  broken             broken
//	AccessDeniedException                      broken             broken
//	ValidationException                        broken             broken
//	ItemCollectionSizeLimitExceededException   broken             broken
//	UnrecognizedClientException,
//	    MissingAuthenticationTokenException    broken             broken
//	KMS...Exception, "KMS key"                 broken             broken
//	UnknownOperationException,
//	    SerializationException, 405, 413, 501  broken             broken
//	InvalidSignatureException about time,
//	    RequestTimeTooSkewed                   unknown            unknown
//	InvalidSignatureException otherwise        broken             broken
//	ExpiredTokenException                      unknown            unknown
//	403, 404 and others without a name         unknown            unknown
//	no answer: timeout, reset, DNS, TLS,
//	    no credentials                         unknown            unknown
//	no region, an endpoint that is no URL      broken             broken
//
// A signature is refused when the host's clock is more than five minutes off. The
// SDK learns the difference from the Date of that answer and signs the next request
// with the store's time, so that a host whose clock is hours off can campaign. An
// InvalidSignatureException or AccessDeniedException whose Date shows such a
// difference counts as refused for its time.
//
// A lost race comes with the winner's item, which saves a read
// (ReturnValuesOnConditionCheckFailure). Some compatible stores leave it out;
// then the election reads.
//
// # Fenced writes
//
// What a leader writes to DynamoDB itself can be made safe from leaders of the
// past, frozen ones included: [Decider.WriteFenced], or [Decider.FenceCheck] in a
// transaction of one's own.
package dynamodecider
