package gcsdecider

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
)

func (op operation) String() string { return [...]string{"read", "create", "overwrite"}[op] }

// outcome is the contract's word for an answer that is not a success.
type outcome int

const (
	unknown outcome = iota
	lost            // proved not stored: another version is current
	broken          // not done, and trying again cannot help
	absent          // a read's: nothing is stored
)

// verdict is an outcome and what the reader of the error should do.
type verdict struct {
	outcome outcome
	todo    string
}

// judge is the table of the package comment. In doubt it says unknown.
func (a answer) judge(op operation, bucket string) verdict {
	if a.page {
		return verdict{unknown, "a web page is not Cloud Storage's answer: see to the proxy and the endpoint"}
	}
	switch a.code {
	case http.StatusBadRequest:
		return a.badRequest()
	case http.StatusUnauthorized:
		return a.unauthorized(op)
	case http.StatusForbidden:
		return a.forbidden(op)
	case http.StatusNotFound:
		return a.notFound(op, bucket)
	case http.StatusPreconditionFailed:
		return a.conditionFailed(op)
	case http.StatusMethodNotAllowed, http.StatusLengthRequired,
		http.StatusRequestEntityTooLarge, http.StatusNotImplemented:
		return verdict{broken, "the endpoint, or a proxy before it, does not take the requests of Cloud Storage's JSON API: correct it"}
	case http.StatusTooManyRequests:
		return verdict{unknown, "more than one write per second to this object, or a quota of the project: write less often"}
	}
	return verdict{unknown, "the store or the way to it fails for now: see to it if this stays"}
}

func (a answer) badRequest() verdict {
	switch {
	case a.has("crc32c", "md5", "checksum", "uploadbrokenconnection"):
		return verdict{unknown, "the request was damaged on its way: see to the network if this stays"}
	case a.has("userproject", "user project", "requester pays", "requesterpays"):
		return verdict{broken, "the bucket bills whoever asks: set Options.UserProject to a project you may bill"}
	case a.has("kms"):
		return verdict{broken, "see to the Cloud KMS key: Options.KMSKeyName, or the bucket's default key"}
	}
	return verdict{broken, "correct what the answer names: bucket, object name, storage class or endpoint"}
}

func (a answer) unauthorized(op operation) verdict {
	if a.has("anonymous caller", "login required", "authenticationrequired") {
		return verdict{broken, "the client sends no credentials: make it without option.WithoutAuthentication, and grant " + a.wanted(op)}
	}
	return verdict{unknown, "the access token was refused, it may have expired: see to the credentials if this stays"}
}

func (a answer) forbidden(op operation) verdict {
	switch {
	case a.has("limitexceeded", "quotaexceeded"):
		return verdict{unknown, "a quota or rate limit of the project: ask less often, or raise it"}
	case a.has("retentionpolicynotmet", "retention policy", "object retention"):
		return verdict{broken, "a retention policy forbids overwriting: remove it from the bucket (retentionPolicy) and the object (retention), or use another bucket"}
	case a.has("objectunderactivehold", "-based hold", "temporary hold", "active hold"):
		return verdict{broken, "a hold forbids overwriting: release the object's eventBasedHold or temporaryHold, and the bucket's defaultEventBasedHold"}
	case a.has("accountdisabled", "userprojectaccountproblem", "billing account"):
		return verdict{broken, "the project's billing is off: enable billing for the project that owns the bucket, or that Options.UserProject names"}
	case a.has("accessnotconfigured", "has not been used in project", "api is disabled"):
		return verdict{broken, "enable the Cloud Storage API in the project"}
	case a.has("vpcservicecontrols", "organization's policy"):
		return verdict{broken, "a VPC Service Controls perimeter is in the way: let this caller in"}
	case a.has("kms"):
		return verdict{broken, "grant the project's Cloud Storage service agent roles/cloudkms.cryptoKeyEncrypterDecrypter on the key"}
	case a.has("authentication scopes", "insufficientscopes"):
		return verdict{broken, "the credentials' access scopes are too narrow: use devstorage.read_write or cloud-platform"}
	case a.has("sslrequired"):
		return verdict{broken, "use an https endpoint"}
	}
	return verdict{broken, "grant " + a.wanted(op) + " on the bucket (the role Storage Object User has them)"}
}

// wanted names the permission that the answer asks for, or the ones that the
// operation needs ("IAM permissions for JSON methods").
func (a answer) wanted(op operation) string {
	switch {
	case a.permission != "":
		return a.permission
	case op == read:
		return "storage.objects.get, and storage.objects.list without which a missing object is a 403"
	case op == create:
		return "storage.objects.create"
	}
	return "storage.objects.create and storage.objects.delete"
}

func (a answer) notFound(op operation, bucket string) verdict {
	switch {
	case a.has("bucket does not exist", "nosuchbucket"), op == create:
		// A create asks for nothing but the bucket.
		return verdict{broken, fmt.Sprintf("bucket %s does not exist, or the endpoint is wrong: create the bucket or correct its name", quote(bucket))}
	case op == read && a.has("no such object", "notfound", "not found", "nosuchkey"):
		return verdict{outcome: absent}
	case op == overwrite && a.has("no such object", "notfound"):
		return verdict{lost, "the object is gone: read what is stored now"}
	}
	return verdict{unknown, "a 404 that does not say what is missing may be anybody's: see to the proxy and the endpoint"}
}

func (a answer) conditionFailed(op operation) verdict {
	switch {
	case a.has("orgpolicyconstraint", "violates constraint", "constraint 'constraints/"):
		return verdict{broken, "an organisation policy forbids it: satisfy the constraint that the answer names, or use another bucket"}
	case op == read:
		return verdict{unknown, "a read has no condition to fail: see to the endpoint if this stays"}
	}
	return verdict{lost, "read what is stored now"}
}
