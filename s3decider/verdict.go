package s3decider

import (
	"fmt"
	"net/http"
)

// operation is what was asked of the store.
type operation int

const (
	read operation = iota
	create
	overwrite
	remove // of what is no election's: scratch objects, the data of fenced objects
)

func (op operation) String() string { return [...]string{"read", "create", "overwrite", "delete"}[op] }

// outcome is the contract's word for an answer that is not a success.
type outcome int

const (
	unknown outcome = iota
	lost            // proved not stored: another version is current
	broken          // not done, and trying again cannot help
	absent          // a read's or a deletion's: nothing is stored
)

// verdict is an outcome and what the reader of the error should do.
type verdict struct {
	outcome outcome
	todo    string
}

// judge is the table of the package comment. In doubt it says unknown.
func (a answer) judge(op operation, bucket string) verdict {
	switch {
	case a.page():
		return verdict{unknown, "a web page is not S3's answer: see to the endpoint and the proxies before it"}
	case a.is("PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "IncorrectEndpoint"),
		a.status == http.StatusMovedPermanently:
		return a.elsewhere(bucket)
	case a.is("RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"), a.skewed && a.mentions("signature"):
		return verdict{unknown, "this host's clock is wrong, or was when the request was signed: the next one allows for it; set the clock right"}
	case a.is("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"):
		return verdict{unknown, "the credentials have expired: see to their renewal if this stays"}
	case a.mentions("throttl"), a.mentions("limitexceeded"), a.is("SlowDown", "TooManyRequests", "AuthenticationLockout"):
		return verdict{unknown, "the store asks for fewer requests"}
	}
	switch a.status {
	case http.StatusBadRequest:
		return a.badRequest()
	case http.StatusUnauthorized:
		return a.unauthorized()
	case http.StatusForbidden:
		return a.forbidden(op)
	case http.StatusNotFound:
		return a.notFound(op, bucket)
	case http.StatusPreconditionFailed:
		if op == read || op == remove {
			return verdict{unknown, "the request has no condition to fail: see to the endpoint if this stays"}
		}
		return verdict{lost, "read what is stored now"}
	case http.StatusConflict:
		return verdict{unknown, "another request on this key was under way: read what is stored now"}
	case http.StatusNotImplemented, http.StatusMethodNotAllowed, http.StatusLengthRequired, http.StatusRequestEntityTooLarge:
		return verdict{broken, "the store, or a proxy before it, does not take such a request (" + a.codeOr("no code") + "): a store without conditional writes cannot carry an election"}
	}
	return verdict{unknown, "the store or the way to it fails for now: see to it if this stays"}
}

// elsewhere is about a bucket in another region than the client's.
func (a answer) elsewhere(bucket string) verdict {
	if a.is("AuthorizationHeaderMalformed") && a.region() == "" {
		return verdict{broken, "the signature is not for this endpoint: correct the client's region, and the endpoint"}
	}
	if r := a.region(); r != "" {
		return verdict{broken, fmt.Sprintf("bucket %s is in region %s: set the client's region to %s", quote(bucket), r, r)}
	}
	return verdict{broken, fmt.Sprintf("bucket %s is in another region or behind another endpoint: correct the client's region or endpoint", quote(bucket))}
}

func (a answer) badRequest() verdict {
	switch {
	case a.is("RequestTimeout", "IncompleteBody", "BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch"):
		return verdict{unknown, "the request was damaged or held up on its way: see to the network if this stays"}
	case a.mentions("object lock"), a.mentions("content-md5"):
		return verdict{broken, "the bucket demands a checksum (Object Lock does): set Options.ChecksumAlgorithm"}
	case a.mentions("kms"):
		return verdict{broken, "see to the KMS key: Options.KMSKeyID, or the bucket's default key"}
	case a.mentions("checksum"), a.mentions("trailer"):
		return verdict{broken, "the store does not know this checksum: leave Options.ChecksumAlgorithm empty, or choose another"}
	case a.code == "":
		return verdict{broken, "the endpoint does not understand the request: correct the endpoint (http or https, port)"}
	}
	return verdict{broken, "correct what the answer names (" + a.code + "): bucket, key, storage class, credentials or endpoint"}
}

func (a answer) unauthorized() verdict {
	if a.code == "" {
		return verdict{unknown, "somebody on the way asks for credentials: see to the proxy and the endpoint"}
	}
	return verdict{broken, "the store does not know these credentials (" + a.code + "): correct them"}
}

func (a answer) forbidden(op operation) verdict {
	switch {
	case a.is("SignatureDoesNotMatch"):
		return verdict{broken, "the secret key does not belong to the access key, or a proxy changes requests: correct the credentials"}
	case a.is("InvalidAccessKeyId", "InvalidToken", "InvalidSecurity", "NotSignedUp", "AccountProblem", "AllAccessDisabled"):
		return verdict{broken, "the store does not take these credentials (" + a.code + "): correct them"}
	case a.is("InvalidObjectState"):
		return verdict{broken, "the object is archived: restore it, keep the key out of lifecycle rules, and set Options.StorageClass"}
	case a.mentions("kms:"), a.mentions("kms."):
		return verdict{broken, "grant " + a.wanted(op) + " on the KMS key (writers need kms:GenerateDataKey and kms:Decrypt, readers kms:Decrypt)"}
	case op == read && a.action() == "s3:ListBucket":
		return verdict{broken, "the object may be missing, which S3 hides from who may not list: grant s3:ListBucket on the bucket"}
	}
	todo := "grant " + a.wanted(op)
	if op == overwrite && a.mentions("object lock") {
		todo = "Object Lock forbids it: keep elections out of buckets with a default retention"
	}
	return verdict{broken, todo}
}

// wanted names the permission that the answer asks for, or the ones that the
// operation needs ("Required permissions for Amazon S3 API operations").
func (a answer) wanted(op operation) string {
	switch {
	case a.action() != "":
		return a.action()
	case op == remove:
		return "s3:DeleteObject on the object"
	case op == read:
		return "s3:GetObject on the object, and s3:ListBucket on the bucket, without which a missing object is a 403 too"
	}
	return "s3:PutObject on the object (and s3:PutObjectTagging with Options.Tags, kms:GenerateDataKey with a KMS key; see to Options.ExpectedBucketOwner and the bucket policy)"
}

func (a answer) notFound(op operation, bucket string) verdict {
	switch {
	case a.is("NoSuchBucket", "NoSuchAccessPoint"), op == create && a.code != "NoSuchKey":
		// A creation asks for nothing but the bucket.
		return verdict{broken, fmt.Sprintf("bucket %s does not exist, or the endpoint is wrong: create the bucket or correct its name", quote(bucket))}
	case (op == read || op == remove) && (a.is("NoSuchKey") || a.header.Get("X-Amz-Delete-Marker") == "true"):
		return verdict{outcome: absent}
	case op == overwrite && a.is("NoSuchKey"):
		return verdict{lost, "the object is gone: read what is stored now"}
	}
	return verdict{unknown, "a 404 that does not say what is missing may be anybody's: see to the endpoint and the proxies before it"}
}

func (a answer) codeOr(none string) string {
	if a.code == "" {
		return none
	}
	return a.code
}
