package gcsdecider

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// page is what a proxy answers in Cloud Storage's name.
const page = "<!DOCTYPE html><html><title>Error</title>no access</html>"

const (
	deniedGet    = "robot@p.iam.gserviceaccount.com does not have storage.objects.get access to the Google Cloud Storage object. Permission 'storage.objects.get' denied on resource (or it may not exist)."
	deniedList   = "robot@p.iam.gserviceaccount.com does not have storage.objects.list access to the Google Cloud Storage bucket."
	deniedDelete = "robot@p.iam.gserviceaccount.com does not have storage.objects.delete access to the Google Cloud Storage object."
	noBucketXML  = "<?xml version='1.0' encoding='UTF-8'?><Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist.</Message></Error>"
	deniedXML    = "<?xml version='1.0' encoding='UTF-8'?><Error><Code>AccessDenied</Code><Message>Access denied.</Message><Details>" + deniedGet + "</Details></Error>"
)

// TestOutcomes sends every kind of answer over the wire, once for each
// operation that can meet it.
func TestOutcomes(t *testing.T) {
	all := []operation{read, create, overwrite}
	writes := []operation{create, overwrite}
	for _, c := range []struct {
		name   string
		ops    []operation
		status int
		body   string
		want   outcome
		says   string // what the error tells the reader to look at
	}{
		{"no bucket, upload", writes, 404, apiError(404, "notFound", "The specified bucket does not exist."), broken, `bucket "bucket-1" does not exist`},
		{"no bucket, download as text", []operation{read}, 404, "The specified bucket does not exist.", broken, "does not exist"},
		{"no bucket, download as JSON", []operation{read}, 404, apiError(404, "notFound", "The specified bucket does not exist."), broken, "does not exist"},
		{"no bucket, download as XML", []operation{read}, 404, noBucketXML, broken, "does not exist"},
		{"no object, download as text", []operation{read}, 404, "No such object: bucket-1/elections/a b+c", absent, ""},
		{"no object, download as JSON", []operation{read}, 404, apiError(404, "notFound", "No such object: bucket-1/x"), absent, ""},
		{"not found, without a word more, read", []operation{read}, 404, "Not Found", absent, ""},
		{"not found, without a word more, create", []operation{create}, 404, apiError(404, "notFound", "Not Found"), broken, "create the bucket"},
		{"no object to overwrite", []operation{overwrite}, 404, apiError(404, "notFound", "No such object: bucket-1/x"), lost, ""},
		{"not found, by whom", []operation{read, overwrite}, 404, "", unknown, "proxy"},
		{"not found, by whom, create", []operation{create}, 404, "", broken, "endpoint"},
		{"a Go server without such a path", []operation{overwrite}, 404, "404 page not found\n", unknown, "proxy"},
		{"somebody's page for a 404", all, 404, page, unknown, "web page"},

		{"condition failed", writes, 412, apiError(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold."), lost, ""},
		{"organisation policy, old reason", writes, 412, apiError(412, "conditionNotMet", "Request violates constraint 'constraints/gcp.restrictNonCmekServices'"), broken, "organisation policy"},
		{"organisation policy, new reason", writes, 412, apiError(412, "orgPolicyConstraintFailed", "no"), broken, "organisation policy"},
		{"condition failed on a read", []operation{read}, 412, "no", unknown, ""},

		{"token refused", all, 401, apiError(401, "authError", "Invalid Credentials"), unknown, "access token"},
		{"token refused, as text", []operation{read}, 401, "Invalid Credentials", unknown, "access token"},
		{"no credentials, download", []operation{read}, 401, "Anonymous caller does not have storage.objects.get access to the Google Cloud Storage object.", broken, "storage.objects.get"},
		{"no credentials, upload", writes, 401, apiError(401, "required", "Anonymous caller does not have storage.objects.create access to the Google Cloud Storage object."), broken, "storage.objects.create"},
		{"login required", all, 401, apiError(401, "required", "Login Required"), broken, "credentials"},

		{"get denied", []operation{read}, 403, deniedGet, broken, "grant storage.objects.get on"},
		{"list denied", []operation{read}, 403, deniedList, broken, "grant storage.objects.list on"},
		{"denied as XML", []operation{read}, 403, deniedXML, broken, "grant storage.objects.get on"},
		{"denied without a word more, read", []operation{read}, 403, "Forbidden", broken, "storage.objects.list"},
		{"denied without a word more, create", []operation{create}, 403, apiError(403, "forbidden", "Forbidden"), broken, "storage.objects.create"},
		{"denied without a word more, overwrite", []operation{overwrite}, 403, apiError(403, "forbidden", "Forbidden"), broken, "storage.objects.delete"},
		{"delete denied", []operation{overwrite}, 403, apiError(403, "forbidden", deniedDelete), broken, "grant storage.objects.delete on"},
		{"scopes", all, 403, apiError(403, "insufficientPermissions", "Request had insufficient authentication scopes."), broken, "scopes"},
		{"retention policy", []operation{overwrite}, 403, apiError(403, "retentionPolicyNotMet", "Object 'bucket-1/x' is subject to bucket's retention policy and cannot be deleted, overwritten or archived until 2031-01-01"), broken, "retention policy"},
		{"temporary hold", []operation{overwrite}, 403, apiError(403, "objectUnderActiveHold", "Object 'bucket-1/x' is under active Temporary hold and cannot be deleted, overwritten or archived until hold is removed."), broken, "temporaryHold"},
		{"event-based hold, reason unknown", []operation{overwrite}, 403, apiError(403, "forbidden", "Object 'bucket-1/x' is under active Event-Based hold and cannot be deleted, overwritten or archived until hold is removed."), broken, "eventBasedHold"},
		{"billing off", all, 403, apiError(403, "accountDisabled", "The billing account for the owning project is disabled in state absent"), broken, "billing"},
		{"billing off, as text", []operation{read}, 403, "The billing account for the owning project is disabled in state absent", broken, "billing"},
		{"billed project's account", all, 403, apiError(403, "userProjectAccountProblem", "User project account problem."), broken, "billing"},
		{"API not enabled", all, 403, apiError(403, "accessNotConfigured", "Cloud Storage JSON API has not been used in project 1 before or it is disabled."), broken, "enable the Cloud Storage API"},
		{"perimeter", all, 403, apiError(403, "vpcServiceControls", "Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: x"), broken, "VPC Service Controls"},
		{"key denied", writes, 403, apiError(403, "forbidden", "Permission denied on Cloud KMS key. Please ensure that your Cloud Storage service account has been authorized to use this key."), broken, "cryptoKeyEncrypterDecrypter"},
		{"https only", all, 403, apiError(403, "sslRequired", "SSL is required to perform this operation."), broken, "https"},
		{"rate limit as 403", all, 403, apiError(403, "rateLimitExceeded", "Rate Limit Exceeded"), unknown, "rate limit"},
		{"user rate limit as 403", all, 403, apiError(403, "userRateLimitExceeded", "User Rate Limit Exceeded"), unknown, "rate limit"},
		{"quota as 403", all, 403, apiError(403, "quotaExceeded", "quota"), unknown, "quota"},
		{"somebody's page for a 403", all, 403, page, unknown, "web page"},

		{"bad request", all, 400, apiError(400, "invalid", "Invalid bucket name: 'x'"), broken, "correct"},
		{"requester pays", all, 400, apiError(400, "userProjectMissing", "Bucket is a requester pays bucket but no user project provided."), broken, "Options.UserProject"},
		{"requester pays, as text", []operation{read}, 400, "Bucket is a requester pays bucket but no user project provided.", broken, "Options.UserProject"},
		{"key disabled", writes, 400, apiError(400, "cloudKmsDisabledKey", "The key is disabled."), broken, "Options.KMSKeyName"},
		{"damaged on its way", writes, 400, apiError(400, "invalid", `Provided CRC32C "AAAAAA==" doesn't match calculated CRC32C "BBBBBB=="`), unknown, "damaged"},

		{"method", all, 405, "no", broken, "JSON API"},
		{"length required", writes, 411, "no", broken, "JSON API"},
		{"too large for a proxy", writes, 413, "no", broken, "JSON API"},
		{"not implemented", all, 501, "no", broken, "JSON API"},
		{"timeout", all, 408, "no", unknown, ""},
		{"conflict", all, 409, apiError(409, "conflict", "conflict"), unknown, ""},
		{"gone", writes, 410, "no", unknown, ""},
		{"one write per second", all, 429, apiError(429, "rateLimitExceeded", "The object bucket-1/x exceeded the rate limit for object mutation operations (create, update, and delete)."), unknown, "write less often"},
		{"internal error", all, 500, apiError(500, "internalError", "We encountered an internal error."), unknown, ""},
		{"bad gateway", all, 502, page, unknown, "web page"},
		{"unavailable", all, 503, apiError(503, "backendError", "Backend Error"), unknown, ""},
		{"gateway timeout", all, 504, "", unknown, ""},
		{"redirect without a target", writes, 307, "", unknown, ""},
	} {
		for _, op := range c.ops {
			t.Run(c.name+", "+op.String(), func(t *testing.T) {
				t.Parallel()
				w := newWire(t, refusal(c.status, c.body))
				e, err := ask(w.decider(t, nil), op)
				checkOutcome(t, op, c.want, e, err)
				if err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error does not mention %q: %v", c.says, err)
				}
				if n := len(w.seen()); op != read && n != 1 {
					t.Errorf("%d requests for one write", n)
				}
			})
		}
	}
}

// TestMisleadingNames: words in the object's name are not the service's.
func TestMisleadingNames(t *testing.T) {
	const object = "md5/quotaExceeded/NoSuchBucket/storage.objects.list"
	for _, c := range []struct {
		op     operation
		status int
		body   string
		want   outcome
	}{
		{overwrite, 403, apiError(403, "retentionPolicyNotMet", "Object '"+testBucket+"/"+object+"' is subject to bucket's retention policy"), broken},
		{overwrite, 404, apiError(404, "notFound", "No such object: "+testBucket+"/"+object), lost},
		{read, 404, "No such object: " + testBucket + "/" + object, absent},
		{create, 400, apiError(400, "invalid", "Cannot store "+testBucket+"/"+object), broken},
	} {
		w := newWire(t, refusal(c.status, c.body))
		e, err := ask(NewDecider(newTestClient(t, w.options(t)...), testBucket, object, nil), c.op)
		var failed core.FailedAcquisitionErr
		if (err == nil) != (c.want == absent) || errors.Is(err, core.ErrBroken) != (c.want == broken) || errors.As(err, &failed) != (c.want == lost) {
			t.Errorf("%s, %d: %+v, %v", c.op, c.status, e, err)
		}
	}
}

// ask does one operation; a read's entry comes back, of a write only the error.
func ask(d *Decider, op operation) (*entry.RaceEntry, error) {
	ctx := context.Background()
	if op == read {
		return d.ReadCurrent(ctx)
	}
	base := &Token{}
	if op == overwrite {
		base.generation = 41
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
	if text := err.Error(); !strings.Contains(text, "gcsdecider: gs://bucket-1/elections/a b+c: "+op.String()+": ") ||
		strings.ContainsAny(text, "\n\r") || len(text) > 1000 {
		t.Errorf("the error reads: %s", text)
	}
}
