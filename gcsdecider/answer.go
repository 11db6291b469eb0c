package gcsdecider

import (
	"errors"
	"net/http"
	"strings"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
)

// answer is what Cloud Storage said in place of yes.
type answer struct {
	code       int
	reasons    string // the reasons of the JSON API, in lower case
	text       string // its message, or its body, in lower case
	page       bool   // an HTML page: not the service's answer
	permission string // the permission it names, if it does: "storage.objects.get"
}

// answerIn finds the answer in the client's error; false when there was none.
// The object's address, as the service writes it, says nothing: an object may be
// called "kms/checksum".
//
// There are three dialects: uploads are answered in JSON, which the client
// reads; downloads through the JSON API in plain text, or in JSON by
// emulators; downloads through the XML API, the default of a client made elsewhere, in XML.
func answerIn(err error, address string) (answer, bool) {
	var api *googleapi.Error
	if !errors.As(err, &api) {
		switch {
		case errors.Is(err, storage.ErrBucketNotExist):
			return answer{code: http.StatusNotFound, reasons: "nosuchbucket"}, true
		case errors.Is(err, storage.ErrObjectNotExist): // XML: the client has thrown the text away
			return answer{code: http.StatusNotFound, reasons: "nosuchkey"}, true
		}
		return answer{}, false
	}
	message := api.Message
	if message == "" {
		message = api.Body // of a download, whatever the dialect: its words are what counts
	}
	message = strings.ReplaceAll(message, address, "")
	a := answer{code: api.Code, text: strings.ToLower(message), permission: permissionIn(message)}
	for _, item := range api.Errors {
		a.reasons += strings.ToLower(item.Reason) + " "
	}
	head := strings.ToLower(strings.TrimSpace(api.Body[:min(len(api.Body), 512)]))
	a.page = strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html")
	return a, true
}

// permissionIn finds the permission in "... does not have storage.objects.get
// access to the Google Cloud Storage object"; "" when none is named.
func permissionIn(message string) string {
	for _, word := range strings.FieldsFunc(message, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.')
	}) {
		word = strings.Trim(word, ".")
		if strings.HasPrefix(word, "storage.") && strings.Count(word, ".") == 2 {
			return word
		}
	}
	return ""
}

// has tells whether a reason or the message contains one of the marks, which
// are in lower case.
func (a answer) has(marks ...string) bool {
	for _, m := range marks {
		if strings.Contains(a.reasons, m) || strings.Contains(a.text, m) {
			return true
		}
	}
	return false
}
