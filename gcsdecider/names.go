package gcsdecider

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"cloud.google.com/go/storage"
)

// maxObjectName is the longest object name, in bytes of UTF-8 ("About Cloud
// Storage objects", object name requirements).
const maxObjectName = 1024

// validate reports everything that is wrong with NewDecider's parameters.
func validate(client *storage.Client, bucket, object string) error {
	var faults []error
	// A Client that no constructor has made would panic when it is used.
	if client == nil || reflect.ValueOf(client).Elem().IsZero() {
		faults = append(faults, errors.New("there is no client; make one with gcsdecider.NewClient"))
	}
	if fault := bucketFault(bucket); fault != "" {
		faults = append(faults, fmt.Errorf("bucket name %s %s", quote(bucket), fault))
	}
	if fault := objectFault(object); fault != "" {
		faults = append(faults, fmt.Errorf("object name %s %s", quote(object), fault))
	}
	return errors.Join(faults...)
}

// bucketFault checks what "About Cloud Storage buckets", bucket names, demands
// of every bucket, old ones included; "" means no fault. It leaves to
// the service what it alone knows (reserved and taken names).
func bucketFault(name string) string {
	switch {
	case name == "":
		return "is empty; give the name of an existing bucket"
	case strings.HasPrefix(name, "gs:"), strings.Contains(name, "/"):
		return `is not a bare name; leave out "gs://" and everything after the bucket`
	case len(name) < 3 || len(name) > 222:
		return "must have 3 to 63 characters, or up to 222 with dots"
	}
	for _, part := range strings.Split(name, ".") {
		if part == "" || len(part) > 63 {
			return "must have 1 to 63 characters before, between and after its dots"
		}
	}
	for _, c := range name {
		if !alphanumeric(c) && !strings.ContainsRune("-_.", c) {
			return "may have lower case letters, digits, dashes, underscores and dots only"
		}
	}
	if !alphanumeric(rune(name[0])) || !alphanumeric(rune(name[len(name)-1])) {
		return "must begin and end with a letter or a digit"
	}
	return ""
}

func alphanumeric(c rune) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }

// objectFault checks "About Cloud Storage objects", object name requirements.
func objectFault(name string) string {
	switch {
	case name == "":
		return "is empty; give the object that keeps this election"
	case len(name) > maxObjectName:
		return fmt.Sprintf("has %d bytes; shorten it to %d at most", len(name), maxObjectName)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsAny(name, "\r\n"):
		return "contains a line break; remove it"
	case name == "." || name == "..":
		return "is reserved; choose another"
	case strings.HasPrefix(name, ".well-known/acme-challenge/"):
		return `begins with the reserved ".well-known/acme-challenge/"; choose another`
	}
	return ""
}

// quote shows a name that may be very long or not text at all.
func quote(name string) string { return fmt.Sprintf("%.80q", name) }
