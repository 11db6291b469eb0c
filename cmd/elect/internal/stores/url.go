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
	SchemeGCS    = "gs"
	SchemeMemory = "mem"
)

// Location is a store's URL in parts.
type Location struct {
	Scheme string
	Bucket string // gs: the bucket
	Name   string // gs: the object; mem: the name
}

// String is the canonical URL: Parse makes the same Location of it.
func (l Location) String() string {
	if l.Scheme == SchemeMemory {
		return "mem://" + l.Name
	}
	return l.Scheme + "://" + l.Bucket + "/" + l.Name
}

// Usage says how a store is written, for help texts and errors.
const Usage = "gs://BUCKET/OBJECT or mem://NAME"

// bucketName is what the names of all buckets have in common. What else a name
// needs the decider knows, and the service.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$`)

// Parse takes a store's URL apart. Names stand for themselves, as they do in
// gcloud's gs:// URLs: nothing is percent-decoded. The error Is ErrURL, is one
// line, and says what a right URL looks like.
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
	case SchemeGCS:
		return parseGCS(raw, rest)
	case SchemeMemory:
		return parseMemory(raw, rest)
	case "s3", "dynamodb":
		return Location{}, wrong(raw, "is a kind of store that is not in this build yet", Usage)
	}
	if lower := strings.ToLower(scheme); lower != scheme && (lower == SchemeGCS || lower == SchemeMemory) {
		return Location{}, wrong(raw, "has its scheme in capitals", lower+"://"+rest)
	}
	return Location{}, wrong(raw, fmt.Sprintf("has the unknown scheme %.40q", scheme), Usage)
}

func parseGCS(raw, rest string) (Location, error) {
	const right = "gs://BUCKET/OBJECT, like gs://my-bucket/elections/nightly"
	bucket, object, slash := strings.Cut(rest, "/")
	switch {
	case bucket == "":
		return Location{}, wrong(raw, "names no bucket", right)
	case !bucketName.MatchString(bucket):
		return Location{}, wrong(raw, fmt.Sprintf("has the bucket %.80q, which cannot be one"+
			" (3 or more lower case letters, digits, dashes, underscores and dots)", bucket), right)
	case !slash || object == "":
		return Location{}, wrong(raw, "names no object in the bucket", right)
	case strings.HasSuffix(object, "/"):
		return Location{}, wrong(raw, "ends with a slash like a folder, not an object", right)
	case strings.HasPrefix(object, "/"):
		return Location{}, wrong(raw, "has two slashes after the bucket", right)
	}
	return Location{Scheme: SchemeGCS, Bucket: bucket, Name: object}, nil
}

func parseMemory(raw, rest string) (Location, error) {
	if strings.Trim(rest, "/") != rest || rest == "" {
		return Location{}, wrong(raw, "names nothing", "mem://NAME, like mem://test")
	}
	return Location{Scheme: SchemeMemory, Name: rest}, nil
}

// strangeIn names what a URL must not contain, or is "". Object names may have
// some of it, but in a URL it is a slip far more often.
func strangeIn(raw string) string {
	if !utf8.ValidString(raw) {
		return "bytes that are not UTF-8"
	}
	for _, r := range raw {
		switch {
		case r == '?':
			return `a query ("?"), and there are no options here`
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

func wrong(raw, what, right string) error {
	return fmt.Errorf("%w: %.120q %s: write %s", ErrURL, raw, what, right)
}
