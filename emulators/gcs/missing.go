package gcs

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
)

// explainMissing rewrites a 404 of the fake, which only says "Not Found", into
// what the service answers in its three dialects: the JSON API, media
// downloads through the JSON API, and the XML API.
// See https://cloud.google.com/storage/docs/json_api/v1/status-codes and
// https://cloud.google.com/storage/docs/xml-api/reference-status.
func (f *front) explainMissing(a *answer, r *http.Request) {
	bucket, object, api := target(r.URL)
	if bucket == "" || r.URL.Query().Has("upload_id") { // not about a bucket or an object
		return
	}
	message, code := "No such object: "+bucket+"/"+object, "NoSuchKey"
	if !f.hasBucket(bucket) {
		message, code = "The specified bucket does not exist.", "NoSuchBucket"
	} else if object == "" {
		return
	}

	a.body.Reset()
	a.header.Del("Content-Length")
	switch {
	case api && r.URL.Query().Get("alt") == "media":
		a.header.Set("Content-Type", "text/html; charset=UTF-8")
		a.body.WriteString(message)
	case api:
		a.header.Set("Content-Type", "application/json; charset=UTF-8")
		a.body.Write(jsonError(http.StatusNotFound, "notFound", message))
	default:
		a.header.Set("Content-Type", "application/xml; charset=UTF-8")
		a.body.Write(xmlError(code, message))
	}
}

// target tells what a request is about, and whether it came by the JSON API.
func target(u *url.URL) (bucket, object string, api bool) {
	path := u.EscapedPath()
	for _, prefix := range []string{"/storage/v1/b/", "/upload/storage/v1/b/", "/download/storage/v1/b/"} {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		bucket, rest, _ = strings.Cut(rest, "/")
		object, _ = strings.CutPrefix(rest, "o/")
		if rest == "o" {
			object = ""
		}
		return unescape(bucket), unescape(object), true
	}
	bucket, object, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return unescape(bucket), unescape(object), false
}

func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

func jsonError(status int, reason, message string) []byte {
	type detail struct {
		Message string `json:"message"`
		Domain  string `json:"domain"`
		Reason  string `json:"reason"`
	}
	var body struct {
		Error struct {
			Code    int      `json:"code"`
			Message string   `json:"message"`
			Errors  []detail `json:"errors"`
		} `json:"error"`
	}
	body.Error.Code, body.Error.Message = status, message
	body.Error.Errors = []detail{{Message: message, Domain: "global", Reason: reason}}
	text, _ := json.Marshal(body) // strings and numbers: cannot fail
	return text
}

func xmlError(code, message string) []byte {
	body := struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: message}
	text, _ := xml.Marshal(body) // as above
	return append([]byte("<?xml version='1.0' encoding='UTF-8'?>"), text...)
}
