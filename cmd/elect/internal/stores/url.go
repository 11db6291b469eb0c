package stores

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrURL is what every error about a store's URL is (errors.Is): the person who
// typed it has to change it.
var ErrURL = errors.New("not the URL of a store")

// The schemes that Parse knows.
const (
	SchemeGCS      = "gs"
	SchemeS3       = "s3"
	SchemeDynamoDB = "dynamodb"
	SchemeMemory   = "mem"
)

// Location is a store's URL in parts.
type Location struct {
	Scheme string
	Bucket string // gs and s3: the bucket; s3: or an access point's ARN
	Table  string // dynamodb: the table, or its ARN
	Name   string // gs: the object; s3: the key; dynamodb: the election; mem: the name

	// What follows is of s3 and dynamodb, and "" where the URL does not say it: then
	// the environment and the shared AWS files do.
	Region    string
	Endpoint  string // the address of the service, http(s)://HOST
	PathStyle string // s3: "true" or "false": whether the bucket is in the path and not in the host name
	// WriteInterval of s3 is the time that the store wants between two writes to one
	// key, as time.ParseDuration takes it.
	WriteInterval string
}

// String is the canonical URL: Parse makes the same Location of it.
func (l Location) String() string {
	if l.Scheme == SchemeMemory {
		return l.Scheme + "://" + l.Name
	}
	return l.Scheme + "://" + l.Bucket + l.Table + "/" + l.Name + l.query()
}

// Usage says how a store is written, for help texts and errors.
const Usage = "gs://BUCKET/OBJECT, s3://BUCKET/KEY, dynamodb://TABLE/ELECTION or mem://NAME"

const rightGCS = "gs://BUCKET/OBJECT, like gs://my-bucket/elections/nightly"

// bucketName is what the names of all buckets in Cloud Storage have in common. What
// else a name needs the decider knows, and the service. (Lengths are counted apart:
// {3,222} in an expression costs every start of elect a millisecond.)
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*[a-z0-9]$`)

// Parse takes a store's URL apart. Names stand for themselves, as they do in
// gcloud's gs:// and aws's s3:// URLs: nothing of them is percent-decoded. The
// error Is ErrURL, is one line, and says what a right URL looks like.
func Parse(raw string) (Location, error) {
	if raw == "" {
		return Location{}, fmt.Errorf("%w: it is empty: write %s", ErrURL, Usage)
	}
	if what := strangeIn(raw); what != "" {
		return Location{}, wrong(raw, "contains "+what, Usage)
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return Location{}, wrong(raw, "has no scheme", Usage)
	}
	switch scheme {
	case SchemeS3:
		return parseS3(raw, rest)
	case SchemeDynamoDB:
		return parseDynamoDB(raw, rest)
	}
	if strings.Contains(raw, "?") {
		return Location{}, wrong(raw, `contains a query ("?"), and only s3:// and dynamodb:// have options`, Usage)
	}
	switch scheme {
	case SchemeGCS:
		return parseGCS(raw, rest)
	case SchemeMemory:
		return parseMemory(raw, rest)
	}
	switch lower := strings.ToLower(scheme); lower {
	case SchemeGCS, SchemeS3, SchemeDynamoDB, SchemeMemory:
		return Location{}, wrong(raw, "has its scheme in capitals",
			fmt.Sprintf("%.160s", password.ReplaceAllString(lower+"://"+rest, "//...@")))
	}
	return Location{}, wrong(raw, fmt.Sprintf("has the unknown scheme %.40q", scheme), Usage)
}

func parseGCS(raw, rest string) (Location, error) {
	bucket, object, _ := strings.Cut(rest, "/")
	switch {
	case bucket == "":
		return Location{}, wrong(raw, "names no bucket", rightGCS)
	case !fits(bucket, bucketName, 3, 222):
		return Location{}, wrong(raw, fmt.Sprintf("has the bucket %.80q, which cannot be one"+
			" (3 or more lower case letters, digits, dashes, underscores and dots)", bucket), rightGCS)
	}
	if what := nameFault(object, "object", "bucket"); what != "" {
		return Location{}, wrong(raw, what, rightGCS)
	}
	return Location{Scheme: SchemeGCS, Bucket: bucket, Name: object}, nil
}

func parseMemory(raw, rest string) (Location, error) {
	if strings.Trim(rest, "/") != rest || rest == "" {
		return Location{}, wrong(raw, "names nothing", "mem://NAME, like mem://test")
	}
	return Location{Scheme: SchemeMemory, Name: rest}, nil
}

// fits tells whether text has the form and a length, in bytes, from least to most.
func fits(text string, form *regexp.Regexp, least, most int) bool {
	return len(text) >= least && len(text) <= most && form.MatchString(text)
}

// nameFault says what is wrong with the name of a record in its container; "" if
// nothing is that all stores refuse, or that is a slip.
func nameFault(name, record, container string) string {
	switch {
	case name == "":
		return "names no " + record + " in the " + container
	case strings.HasSuffix(name, "/"):
		return "ends with a slash like a folder, which cannot be the name of the " + record
	case strings.HasPrefix(name, "/"):
		return "has two slashes after the " + container
	}
	return ""
}

// strangeIn names what a URL must not contain, or is "". Names may have some of
// it, but in a URL it is a slip far more often.
func strangeIn(raw string) string {
	if !utf8.ValidString(raw) {
		return "bytes that are not UTF-8"
	}
	for _, r := range raw {
		switch {
		case r == '#':
			return `a "#", and versions are not chosen here`
		case unicode.IsSpace(r):
			return "white space"
		case !unicode.IsPrint(r):
			return "a character that does not print"
		}
	}
	return ""
}

// password is a user part, which belongs into no message.
var password = regexp.MustCompile(`//[^/?&]*@`)

func wrong(raw, what, right string) error {
	return fmt.Errorf("%w: %.160q %s: write %s", ErrURL, password.ReplaceAllString(raw, "//...@"), what, right)
}
