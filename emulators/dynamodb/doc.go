// Package dynamodb runs Amazon DynamoDB inside a test or a demo: the in-memory
// server of github.com/truora/minidyn on a loopback port.
//
//	server, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
//	...
//	defer server.Close()
//	client := server.Client(nil)
//
// or, for a program that takes its endpoint from the environment, set
// AWS_ENDPOINT_URL_DYNAMODB to [Server.URL], AWS_REGION to anything, and
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to anything.
//
// # What is added to the fake
//
//   - A listener of its own, so that answers carry a Date header as the
//     service's do.
//   - One request at a time. The fake tests a condition and changes the item under
//     one lock, which is right; but it encodes answers and handles tables outside
//     of it, so that a reader may be sent half of another's write.
//   - Numbers of more than 15 digits are kept as they are. The fake would make
//     them float64. They can be stored and tested for equality, not calculated
//     with or put in order.
//   - Operations that it does not know are answered in the service's words
//     (UnknownOperationException), and requests on which it panics with
//     InternalServerError.
//   - Request identifiers, as the SDK prints them.
//
// # How it differs from the service
//
//   - It returns the item of a failed condition (ReturnValuesOnConditionCheckFailure)
//     for updates and condition checks, not for PutItem and DeleteItem.
//   - Of an update expression with several clauses ("SET a=:a REMOVE b") it obeys
//     the first and ignores the others, without a word.
//   - A condition that compares values of different types is invalid and not
//     false. A number of more than 15 digits is here of another type than a shorter one.
//   - DescribeTable tells the key but no TableStatus, so the SDK's
//     TableExistsWaiter waits in vain; a table is usable when CreateTable
//     has returned.
//   - Calls about TTL, tags, backups and streams are unknown operations.
//   - TransactWriteItems knows Put, Update, Delete and ConditionCheck and undoes
//     everything when one fails; a ClientRequestToken is ignored, and nothing ever
//     collides: no TransactionConflictException.
//   - Every read is consistent. Nothing is denied, throttled or limited, and no
//     signature is looked at. Package netfault can answer all that.
package dynamodb
