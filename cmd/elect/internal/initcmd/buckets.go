package initcmd

import "github.com/cloudelect/cloudelect/cmd/elect/internal/stores"

// needs is what a bucket has to allow and how it should be set up, for people.
// docs/PROVIDERS.md and docs/OPERATIONS.md have the reasons.
func needs(scheme string) string {
	if scheme == stores.SchemeGCS {
		return `  what elections need of it:
    permissions    storage.objects.get, .create and .delete (overwriting needs delete);
                   roles/storage.objectUser has them
    no retention   no retention policy, no holds: they forbid overwriting
    no versioning  else every renewal leaves a version: add a lifecycle rule
`
	}
	return `  what elections need of it:
    permissions    s3:GetObject and s3:PutObject on the object, s3:ListBucket on the
                   bucket (without it a missing object is a 403)
    no retention   no default retention of Object Lock
    no versioning  else every renewal leaves a version: add a lifecycle rule
`
}

// howTo is a command that creates a bucket.
func howTo(loc stores.Location) string {
	if loc.Scheme == stores.SchemeGCS {
		return "gcloud storage buckets create gs://" + loc.Bucket + " --location=REGION"
	}
	return "aws s3 mb s3://" + loc.Bucket + " --region " + loc.Region
}
