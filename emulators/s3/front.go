package s3

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// front is the handler before the fake's: it puts the writes in order and answers
// what the fake would answer otherwise than the service.
type front struct {
	store   *s3mem.Backend
	handler http.Handler
	writing sync.Mutex
}

// write runs one change of the store; changes do not overlap.
func (f *front) write(change func() error) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return change()
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		f.handler.ServeHTTP(w, r)
		return
	}
	// The whole body first: a slow sender must not keep the others waiting.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "reading the request body: "+err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.writing.Lock()
	defer f.writing.Unlock()
	if bucket, key, ok := uploadTo(r); ok && r.Header.Get("If-Match") != "" && f.missing(bucket, key) {
		noSuchKey(w)
		return
	}
	f.handler.ServeHTTP(w, r)
}

// uploadTo tells what a plain PutObject is about.
func uploadTo(r *http.Request) (bucket, key string, ok bool) {
	if r.Method != http.MethodPut || r.URL.RawQuery != "" && r.URL.Query().Get("x-id") != "PutObject" {
		return "", "", false
	}
	bucket, key, ok = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return bucket, key, ok && key != ""
}

// missing tells whether the bucket is there and the key is not.
func (f *front) missing(bucket, key string) bool {
	_, err := f.store.HeadObject(bucket, key)
	return gofakes3.HasErrorCode(err, gofakes3.ErrNoSuchKey)
}

// noSuchKey is the service's answer to If-Match on a key that is not there.
func noSuchKey(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+ // the client has gone: nobody is left to tell
		`<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>`)
}
