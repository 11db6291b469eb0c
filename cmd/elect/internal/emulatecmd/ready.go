package emulatecmd

import (
	"fmt"
	"strings"
)

// The emulators look at neither. The clients need all three.
const (
	keyID  = "emulator"
	secret = "emulator"
	region = "us-east-1"
)

// ready is what --json prints. Fields are added, never renamed.
type ready struct {
	Host string `json:"storage_emulator_host,omitempty"`
	URL  string `json:"url,omitempty"`

	S3        string `json:"aws_endpoint_url_s3,omitempty"`
	PathStyle bool   `json:"s3_path_style,omitempty"`
	DynamoDB  string `json:"aws_endpoint_url_dynamodb,omitempty"`
	KeyID     string `json:"aws_access_key_id,omitempty"`
	Secret    string `json:"aws_secret_access_key,omitempty"`
	Region    string `json:"aws_region,omitempty"`

	Buckets []string `json:"buckets,omitempty"`
	Tables  []string `json:"tables,omitempty"`
}

// text is a file that a shell can read.
func (r ready) text() string {
	var what, exports []string
	add := func(name, value string) {
		if value != "" {
			exports = append(exports, "export "+name+"="+value)
		}
	}
	if r.Host != "" {
		what = append(what, "Cloud Storage (gs://) with "+list("bucket", r.Buckets))
	}
	if r.S3 != "" {
		what = append(what, "S3 (s3://) with "+list("bucket", r.Buckets)+", path-style addresses only")
	}
	if r.DynamoDB != "" {
		what = append(what, "DynamoDB (dynamodb://) with "+list("table", r.Tables))
	}
	add("STORAGE_EMULATOR_HOST", r.Host)
	add("AWS_ENDPOINT_URL_S3", r.S3)
	add("AWS_ENDPOINT_URL_DYNAMODB", r.DynamoDB)
	add("AWS_ACCESS_KEY_ID", r.KeyID)
	add("AWS_SECRET_ACCESS_KEY", r.Secret)
	add("AWS_REGION", r.Region)
	return fmt.Sprintf("# Emulators of:\n#   %s\n# Ctrl-C ends them. In another terminal:\n%s\n",
		strings.Join(what, "\n#   "), strings.Join(exports, "\n"))
}

func list(kind string, names []string) string {
	if len(names) == 1 {
		return "the " + kind + " " + names[0]
	}
	return "the " + kind + "s " + strings.Join(names, ", ")
}
