package dynamodecider

import (
	"fmt"
	"net/http"
	"strings"
)

// operation is what was asked of the store.
type operation int

const (
	opRead operation = iota
	opWrite
	opTransact
)

func (op operation) String() string { return [...]string{"read", "write", "transaction"}[op] }

// actions are the IAM actions that an operation needs.
func (op operation) actions() string {
	return [...]string{"dynamodb:GetItem", "dynamodb:UpdateItem",
		"dynamodb:ConditionCheckItem, and the actions of the other items"}[op]
}

// outcome is the contract's word for an answer that is not a success.
type outcome int

const (
	isUnknown outcome = iota
	isLost            // proved not stored: another version is current
	isBroken          // not done, and trying again cannot help
)

// verdict is an outcome and what the reader of the error should do.
type verdict struct {
	outcome outcome
	todo    string
}

func unknown(todo string) verdict { return verdict{isUnknown, todo} }
func broken(todo string) verdict  { return verdict{isBroken, todo} }

// judge is the table of the package comment. In doubt it says unknown.
func (d *Decider) judge(a answer, op operation) verdict {
	if strings.HasPrefix(a.code, "KMS") || a.has("kms key", "kms:", "aws kms", "encryption credentials") {
		return d.key403(a)
	}
	switch a.code {
	case "ConditionalCheckFailedException":
		if op == opWrite {
			return verdict{isLost, "read what is stored now"}
		}
		return unknown("a read has no condition to fail: see to the endpoint if this stays")
	case "ProvisionedThroughputExceededException", "ThrottlingException", "Throttling", "ThrottledException",
		"RequestLimitExceeded", "RequestThrottled", "RequestThrottledException", "TooManyRequestsException":
		return unknown("the table or the account is asked too often: use on-demand capacity, or raise the table's")
	case "TransactionConflictException", "TransactionInProgressException":
		return unknown("a transaction holds the item: try again")
	case "ReplicatedWriteConflictException":
		return unknown("another Region writes to the item: let all candidates use one Region")
	case "ResourceInUseException", "LimitExceededException":
		return unknown("the table, or too many others, are being created or changed: try again")
	case "ResourceNotFoundException", "TableNotFoundException":
		return broken(fmt.Sprintf("table %s does not exist%s: create it (elect init, CreateTable), or correct its name, the region or the endpoint", quote(d.table), d.inRegion()))
	case "ItemCollectionSizeLimitExceededException", "RequestEntityTooLarge":
		return broken("the item, or its collection, is too large: shorten the entry or remove what others have put on the item")
	case "ValidationException":
		return d.validation(a)
	case "UnknownOperationException", "SerializationException", "UnsupportedOperationException", "NotImplemented":
		return broken("the endpoint does not take this request of DynamoDB's: correct the endpoint")
	}
	if v, ok := d.credentials(a, op); ok {
		return v
	}
	switch {
	case a.foreign() && (a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotImplemented || a.status == http.StatusRequestEntityTooLarge):
		return broken("the endpoint, or a proxy before it, does not take DynamoDB's requests: correct it")
	case a.foreign():
		return unknown("the answer is not DynamoDB's: see to the proxy and the endpoint")
	}
	return unknown("the store or the way to it fails for now: see to it if this stays")
}

func (d *Decider) inRegion() string {
	if d.region == "" {
		return ""
	}
	return " in region " + quote(d.region)
}

// validation is about the request; of ours only the key can be wrong.
func (d *Decider) validation(a answer) verdict {
	switch {
	case a.has("key element", "the key", "key schema", "number of conditions on the keys", "key attribute", "missing the key", "required keys", "hash key"):
		return broken(fmt.Sprintf("the partition key of table %s must be the string %q, and there must be no sort key: use another table (elect init, CreateTable)", quote(d.table), attrElection))
	case a.has("size"):
		return broken("the item is too large: shorten the entry or remove what others have put on the item")
	}
	return broken("correct what the answer names: table, election name or endpoint")
}

// key403 is about the key that encrypts the table.
func (d *Decider) key403(a answer) verdict {
	if a.has("throttl", "rate exceeded") || a.status >= http.StatusInternalServerError {
		return unknown("the table's KMS key is asked too often: try again")
	}
	return broken("see to the KMS key of the table: enable it, and grant kms:Decrypt, kms:Encrypt, kms:ReEncrypt*, kms:GenerateDataKey*, kms:DescribeKey and kms:CreateGrant on it")
}

// credentials judges who signed, when, and what they may do.
func (d *Decider) credentials(a answer, op operation) (verdict, bool) {
	clock := unknown("this host's clock is wrong, and the signature with it: the SDK has learned the difference, the next request is signed with the store's time")
	switch a.code {
	case "RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture":
		return clock, true
	case "ExpiredTokenException", "ExpiredToken", "TokenRefreshRequired":
		return unknown("the credentials have expired: it goes on once they are renewed; see to where they come from if this stays"), true
	case "InvalidSignatureException", "SignatureDoesNotMatch", "AuthFailure", "IncompleteSignature", "IncompleteSignatureException":
		if a.skewed || a.has("signature expired", "not yet current", "signature has expired", "is now earlier", "is still later") {
			return clock, true
		}
		return broken("the signature is wrong: correct the secret access key, or the proxy that changes requests"), true
	case "AccessDeniedException", "AccessDenied", "NotAuthorized", "UnauthorizedOperation":
		if a.skewed {
			return clock, true
		}
		wanted := op.actions()
		if a.action != "" {
			wanted = a.action
		}
		return broken(fmt.Sprintf("grant %s on table %s to these credentials, and see that no policy denies it", wanted, quote(d.table))), true
	case "UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "MissingAuthenticationToken", "MissingAuthenticationTokenException":
		return broken("the access key is not known here: correct the credentials, the session token or the region"), true
	case "OptInRequired", "SubscriptionRequiredException":
		return broken("the account is not signed up for DynamoDB in this region: enable it"), true
	}
	return verdict{}, false
}
