package s3decider

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// page is what a proxy answers in S3's name.
const page = "<!DOCTYPE html><html><title>Error</title>no access</html>"

const (
	deniedGet  = "User: arn:aws:iam::111122223333:user/w is not authorized to perform: s3:GetObject on resource: &quot;arn:aws:s3:::bucket-1/x&quot; because no identity-based policy allows the s3:GetObject action"
	deniedList = "User: arn:aws:iam::111122223333:user/w is not authorized to perform: s3:ListBucket on resource: &quot;arn:aws:s3:::bucket-1&quot; because no identity-based policy allows the s3:ListBucket action"
	deniedPut  = "User: arn:aws:iam::111122223333:user/w is not authorized to perform: s3:PutObject on resource: &quot;arn:aws:s3:::bucket-1/x&quot; with an explicit deny"
	deniedKMS  = "User: arn:aws:iam::111122223333:user/w is not authorized to perform: kms:GenerateDataKey on resource: arn:aws:kms:eu-west-1:111122223333:key/1"
)

// TestOutcomes sends every kind of answer over the wire, once for each
// operation that can meet it.
func TestOutcomes(t *testing.T) {
	all := []operation{read, create, overwrite}
	reads := []operation{read}
	writes := []operation{create, overwrite}
	for _, c := range []struct {
		name   string
		ops    []operation
		status int
		body   string
		want   outcome
		says   string // what the error tells the reader to look at
		header []string
	}{
		{"condition failed", writes, 412, xmlError("PreconditionFailed", "At least one of the pre-conditions you specified did not hold"), lost, "read what is stored now", nil},
		{"condition failed, without a word", writes, 412, "", lost, "", nil},
		{"condition failed on a read", reads, 412, xmlError("PreconditionFailed", "no"), unknown, "", nil},
		{"conflict", writes, 409, xmlError("ConditionalRequestConflict", "The conditional request cannot succeed due to a conflicting operation against this resource."), unknown, "under way", nil},
		{"conflict, elsewhere", all, 409, xmlError("OperationAborted", "A conflicting conditional operation is currently in progress against this resource. Please try again."), unknown, "under way", nil},

		{"no key to read", reads, 404, xmlError("NoSuchKey", "The specified key does not exist."), absent, "", nil},
		{"a delete marker", reads, 404, "", absent, "", []string{"X-Amz-Delete-Marker", "true"}},
		{"no key to overwrite", []operation{overwrite}, 404, xmlError("NoSuchKey", "The specified key does not exist."), lost, "gone", nil},
		{"no key to create", []operation{create}, 404, xmlError("NoSuchKey", "The specified key does not exist."), unknown, "", nil},
		{"no bucket", all, 404, xmlError("NoSuchBucket", "The specified bucket does not exist"), broken, `bucket "bucket-1" does not exist`, nil},
		{"no access point", all, 404, xmlError("NoSuchAccessPoint", "The specified accesspoint does not exist"), broken, "does not exist", nil},
		{"not found, by whom", []operation{read, overwrite}, 404, "", unknown, "proxies", nil},
		{"not found, by whom, create", []operation{create}, 404, "", broken, "endpoint", nil},
		{"a Go server without such a path", all, 404, "404 page not found\n", unknown, "web page", []string{"Content-Type", "text/plain; charset=utf-8"}},
		{"somebody's page for a 404", all, 404, page, unknown, "web page", nil},

		{"get denied", reads, 403, xmlError("AccessDenied", deniedGet), broken, "grant s3:GetObject", nil},
		{"list denied", reads, 403, xmlError("AccessDenied", deniedList), broken, "may be missing", nil},
		{"put denied", writes, 403, xmlError("AccessDenied", deniedPut), broken, "grant s3:PutObject", nil},
		{"key denied", writes, 403, xmlError("AccessDenied", deniedKMS), broken, "grant kms:GenerateDataKey on the KMS key", nil},
		{"denied without a word more, read", reads, 403, xmlError("AccessDenied", "Access Denied"), broken, "s3:ListBucket", nil},
		{"denied without a word more, write", writes, 403, xmlError("AccessDenied", "Access Denied"), broken, "s3:PutObject", nil},
		{"denied without a body", all, 403, "", broken, "grant", nil},
		{"locked", []operation{overwrite}, 403, xmlError("AccessDenied", "Access Denied because object protected by object lock."), broken, "Object Lock", nil},
		{"unknown access key", all, 403, xmlError("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."), broken, "credentials", nil},
		{"wrong secret", all, 403, xmlError("SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."), broken, "secret key", nil},
		{"archived", reads, 403, xmlError("InvalidObjectState", "The operation is not valid for the object's storage class"), broken, "archived", nil},
		{"somebody's page for a 403", all, 403, page, unknown, "web page", nil},

		{"clock", all, 403, xmlError("RequestTimeTooSkewed", "The difference between the request time and the current time is too large."), unknown, "clock", nil},
		{"clock, by the signature", all, 403, xmlError("SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."), unknown, "clock", []string{"Date", "Wed, 02 Jan 2030 03:04:05 GMT"}},
		{"a signature of the past", all, 403, xmlError("RequestExpired", "Request has expired"), unknown, "clock", nil},
		{"expired", all, 400, xmlError("ExpiredToken", "The provided token has expired."), unknown, "expired", nil},
		{"to be refreshed", all, 400, xmlError("TokenRefreshRequired", "The provided token must be refreshed."), unknown, "expired", nil},
		{"wrong token", all, 400, xmlError("InvalidToken", "The provided token is malformed or otherwise not valid."), broken, "credentials", nil},
		{"unauthorized", all, 401, xmlError("Unauthorized2", "who"), broken, "credentials", nil},
		{"a proxy's login", all, 401, "", unknown, "proxy", nil},

		{"wrong region", all, 301, xmlError("PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint."), broken, "in region us-west-2", []string{"X-Amz-Bucket-Region", "us-west-2"}},
		{"wrong endpoint", all, 301, xmlError("PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint."), broken, "region or endpoint", nil},
		{"moved, without a word", all, 301, "", broken, "in region us-west-2", []string{"X-Amz-Bucket-Region", "us-west-2"}},
		{"wrong region in the signature", all, 400, xmlError("AuthorizationHeaderMalformed", "The authorization header is malformed; the region 'eu-west-1' is wrong; expecting 'us-west-2'"), broken, "in region us-west-2", nil},
		{"malformed authorization", all, 400, xmlError("AuthorizationHeaderMalformed", "The authorization header you provided is not valid."), broken, "region", nil},
		{"elsewhere for now", writes, 307, xmlError("TemporaryRedirect", "Please re-send this request to the specified temporary endpoint."), unknown, "", nil},

		{"bad name", all, 400, xmlError("InvalidBucketName", "The specified bucket is not valid."), broken, "InvalidBucketName", nil},
		{"bad class", writes, 400, xmlError("InvalidStorageClass", "The storage class you specified is not valid"), broken, "InvalidStorageClass", nil},
		{"Object Lock wants a checksum", writes, 400, xmlError("InvalidRequest", "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters"), broken, "Options.ChecksumAlgorithm", nil},
		{"key disabled", writes, 400, xmlError("KMS.DisabledException", "arn:aws:kms:1 is disabled."), broken, "Options.KMSKeyID", nil},
		{"unknown checksum", writes, 400, xmlError("InvalidRequest", "The algorithm type you specified in x-amz-checksum- header is invalid."), broken, "Options.ChecksumAlgorithm", nil},
		{"not even S3", all, 400, "", broken, "endpoint", nil},
		{"held up", writes, 400, xmlError("RequestTimeout", "Your socket connection to the server was not read from or written to within the timeout period."), unknown, "network", nil},
		{"damaged", writes, 400, xmlError("BadDigest", "The Content-MD5 or checksum value that you specified did not match what the server received."), unknown, "network", nil},
		{"cut off", writes, 400, xmlError("IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header."), unknown, "network", nil},
		{"KMS throttles", writes, 400, xmlError("KMS.ThrottlingException", "You have exceeded the rate"), unknown, "fewer", nil},

		{"no conditional writes", writes, 501, xmlError("NotImplemented", "A header you provided implies functionality that is not implemented"), broken, "conditional writes", nil},
		{"method", all, 405, xmlError("MethodNotAllowed", "The specified method is not allowed against this resource."), broken, "MethodNotAllowed", nil},
		{"length required", writes, 411, xmlError("MissingContentLength", "no"), broken, "MissingContentLength", nil},
		{"too large for a proxy", writes, 413, "", broken, "proxy", nil},

		{"too many", all, 429, xmlError("TooManyRequests", "Reduce your request rate"), unknown, "fewer", nil},
		{"too many, as a denial", all, 403, xmlError("RequestRateLimitExceeded", "Your account exceeded the limit for PUT requests."), unknown, "fewer", nil},
		{"slow down", all, 503, xmlError("SlowDown", "Please reduce your request rate."), unknown, "fewer", nil},
		{"unavailable", all, 503, xmlError("ServiceUnavailable", "Service is unable to handle request."), unknown, "", nil},
		{"internal error", all, 500, xmlError("InternalError", "We encountered an internal error. Please try again."), unknown, "", nil},
		{"bad gateway", all, 502, page, unknown, "fails for now", nil},
		{"gateway timeout", all, 504, "", unknown, "", nil},
		{"timeout", all, 408, "", unknown, "", nil},
		{"not modified", reads, 304, "", unknown, "", nil},
	} {
		for _, op := range c.ops {
			t.Run(c.name+", "+op.String(), func(t *testing.T) {
				t.Parallel()
				w := newWire(t, refusal(c.status, c.body, c.header...))
				e, err := ask(w.decider(t, nil), op)
				checkOutcome(t, op, c.want, e, err)
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

// ask does one operation; a read's entry comes back, of a write only the error.
func ask(d *Decider, op operation) (*entry.RaceEntry, error) {
	return askContext(context.Background(), d, op)
}

func askContext(ctx context.Context, d *Decider, op operation) (*entry.RaceEntry, error) {
	if op == read {
		return d.ReadCurrent(ctx)
	}
	base := &Token{}
	if op == overwrite {
		base.etag = testETag
	}
	token, err := d.WriteEntry(ctx, sampleEntry(base))
	if err == nil {
		return &entry.RaceEntry{Token: token}, nil
	}
	return nil, err
}

func checkOutcome(t *testing.T, op operation, want outcome, e *entry.RaceEntry, err error) {
	t.Helper()
	var failed core.FailedAcquisitionErr
	got := unknown
	switch {
	case err == nil && e != nil && e.Absent():
		got = absent
	case err == nil:
		t.Fatalf("%s succeeded: %+v", op, e)
	case errors.As(err, &failed):
		got = lost
	case errors.Is(err, core.ErrBroken):
		got = broken
	}
	names := []string{"unknown", "lost", "broken", "absent"}
	if got != want {
		t.Fatalf("%s is %s, want %s: %v", op, names[got], names[want], err)
	}
	if err == nil {
		return
	}
	if e != nil {
		t.Errorf("an entry comes with the error: %+v", e)
	}
	if errors.Is(err, core.ErrBadEntry) || errors.Is(err, core.ErrInvalidConfig) || errors.Is(err, core.ErrLostRace) != (want == lost) {
		t.Errorf("%v is more than it should be", err)
	}
	var race *core.LostRaceError
	if want == lost && (!errors.As(err, &race) || race.Current != nil || race.Err == nil) {
		t.Errorf("a lost race is %#v", err)
	}
	if text := err.Error(); !strings.Contains(text, "s3decider: s3://bucket-1/elections/a b+c: "+op.String()) ||
		strings.ContainsAny(text, "\n\r") || len(text) > 1000 {
		t.Errorf("the error reads: %s", text)
	}
}
