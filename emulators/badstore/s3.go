package badstore

import (
	"crypto/rand"
	"net/http"
	"strings"
)

// s3 is the REST API in path style: /BUCKET/KEY.
type s3 struct{}

func (s3) understand(m *message) call {
	_, key, _ := strings.Cut(strings.TrimPrefix(m.url.Path, "/"), "/")
	c := call{kind: Other, key: key}
	match, none := m.header.Get("If-Match"), m.header.Get("If-None-Match")
	switch {
	case key == "":
	case m.method == http.MethodGet, m.method == http.MethodHead:
		c.kind = Read
	case m.method == http.MethodDelete:
		c.kind = Delete
	case m.method == http.MethodPut && none != "":
		c.kind, c.when = Create, none
	case m.method == http.MethodPut && match != "":
		c.kind, c.when = Overwrite, match
	}
	return c
}

func (s3) unconditional(m *message) {
	m.header.Del("If-Match")
	m.header.Del("If-None-Match")
}

func (s3) refused(a *answer) bool { return a.status == http.StatusPreconditionFailed }

func (s3) yes(call, *message) *answer {
	a := made(http.StatusOK, "application/xml", "")
	a.header.Set("Etag", `"`+strings.ToLower(rand.Text())+`"`)
	return a
}

func (s3) forbidden(call) *answer {
	return made(http.StatusForbidden, "application/xml",
		`<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`)
}

func (s3) omit(_ call, a *answer) { a.header.Del("Etag") }
