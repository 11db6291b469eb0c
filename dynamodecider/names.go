package dynamodecider

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// maxName is the longest partition key value, in bytes ("Quotas in Amazon
// DynamoDB", partition key length).
const maxName = 2048

// validate reports everything that is wrong with NewDecider's parameters.
func validate(client API, table, name string) error {
	var faults []error
	if missing(client) {
		faults = append(faults, errors.New("there is no client; make one with dynamodb.NewFromConfig"))
	}
	if fault := tableFault(table); fault != "" {
		faults = append(faults, fmt.Errorf("table name %s %s", quote(table), fault))
	}
	if fault := nameFault(name); fault != "" {
		faults = append(faults, fmt.Errorf("election name %s %s", quote(name), fault))
	}
	return errors.Join(faults...)
}

// missing tells whether there is no client: nil, a nil pointer, or a
// dynamodb.Client that no constructor has made and that would panic.
func missing(client any) bool {
	if client == nil {
		return true
	}
	v := reflect.ValueOf(client)
	if v.Kind() != reflect.Pointer {
		return false
	}
	return v.IsNil() || v.Type().String() == "*dynamodb.Client" && v.Elem().IsZero()
}

// tableFault checks "Naming rules" of the DynamoDB developer guide; "" means no
// fault. Of an ARN only its form is looked at.
func tableFault(table string) string {
	if strings.HasPrefix(table, "arn:") {
		if !strings.Contains(table, ":table/") || len(table) > 1024 {
			return "is not a table's ARN; give arn:aws:dynamodb:REGION:ACCOUNT:table/NAME, or the bare name"
		}
		return ""
	}
	switch {
	case table == "":
		return "is empty; give the name of an existing table, or make one with CreateTable"
	case len(table) < 3 || len(table) > 255:
		return "must have 3 to 255 characters"
	}
	for _, c := range table {
		if !strings.ContainsRune("_.-", c) && !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return "may have letters, digits, underscores, dashes and dots only"
		}
	}
	return ""
}

func nameFault(name string) string {
	switch {
	case name == "":
		return "is empty; give the election a name: it is the key of its item"
	case len(name) > maxName:
		return fmt.Sprintf("has %d bytes; shorten it to %d at most", len(name), maxName)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	}
	return ""
}

// quote shows a name that may be very long or not text at all.
func quote(name string) string { return fmt.Sprintf("%.80q", name) }
