package s3decider

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxKey is the longest key, in bytes of UTF-8 ("Naming Amazon S3 objects").
const maxKey = 1024

// validate reports everything that is wrong with the parameters.
func validate(client any, bucket, key string, opts Options) error {
	var faults []error
	if absentClient(client) {
		faults = append(faults, errors.New("there is no client; make one with s3.NewFromConfig"))
	}
	if fault := bucketFault(bucket); fault != "" {
		faults = append(faults, fmt.Errorf("bucket name %s %s", quote(bucket), fault))
	}
	if fault := keyFault(key); fault != "" {
		faults = append(faults, fmt.Errorf("key %s %s", quote(key), fault))
	}
	if opts.BucketKey && opts.KMSKeyID == "" {
		faults = append(faults, errors.New("Options.BucketKey is set and KMSKeyID is not; name the key"))
	}
	return errors.Join(faults...)
}

// absentClient finds a nil interface, a nil pointer, and a client that no
// constructor has made: each would panic when it is used.
func absentClient(client any) bool {
	v := reflect.ValueOf(client)
	if !v.IsValid() || v.Kind() != reflect.Pointer {
		return !v.IsValid()
	}
	return v.IsNil() || v.Elem().IsZero() && v.Elem().Kind() == reflect.Struct && v.Elem().NumField() > 0
}

// bucketFault leaves to the store what it alone knows: names of compatible stores
// and old buckets follow rules of their own. "" means no fault.
func bucketFault(name string) string {
	switch {
	case name == "":
		return "is empty; give the name of an existing bucket"
	case strings.HasPrefix(name, "arn:"): // an access point; it may have slashes
		return textFault(name)
	case strings.HasPrefix(name, "s3:"), strings.Contains(name, "/"):
		return `is not a bare name; leave out "s3://" and everything after the bucket`
	case len(name) < 3 || len(name) > 255:
		return "must have 3 to 63 characters, or up to 255 of an old bucket"
	}
	for _, c := range name {
		if c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_.:", c) {
			return "may have letters, digits, dashes, underscores and dots only"
		}
	}
	if strings.Trim(name, ".") == "" {
		return "has nothing but dots"
	}
	return ""
}

// keyFault refuses what S3 refuses, and what clients and proxies on the way
// quietly turn into another key ("Naming Amazon S3 objects", characters to avoid).
func keyFault(key string) string {
	switch {
	case key == "":
		return "is empty; give the key that keeps this election"
	case strings.HasSuffix(key, "/"):
		return "is a folder; add a name after the slash"
	case strings.HasPrefix(key, "/"):
		return "begins with a slash; leave it out"
	case len(key) > maxKey:
		return fmt.Sprintf("has %d bytes; shorten it to %d at most", len(key), maxKey)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "." || part == ".." {
			return `has a part that is "." or "..", which proxies resolve; leave it out`
		}
	}
	return textFault(key)
}

func textFault(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not UTF-8"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "contains a control character; remove it"
	}
	return ""
}

// quote shows a name that may be very long or not text at all.
func quote(name string) string { return fmt.Sprintf("%.80q", name) }
