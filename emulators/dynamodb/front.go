package dynamodb

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	minidyn "github.com/truora/minidyn/server"
)

// front is the handler before the fake's: it puts the requests in order and
// words the answers that the fake leaves to net/http.
type front struct {
	fake *minidyn.Server
	turn sync.Mutex
}

func newFront() *front { return &front{fake: minidyn.NewServer()} }

// ServeHTTP answers one request.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The whole body first: a slow sender must not keep the others waiting.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "reading the request body: "+err.Error(), http.StatusBadRequest)
		return
	}
	f.answer(r, body).sendTo(w)
}

// Do is ServeHTTP for a client in the same process (dynamodb.HTTPClient).
func (f *front) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		if err = r.Body.Close(); err != nil {
			return nil, err
		}
	}
	a := f.answer(r, body)
	return &http.Response{
		StatusCode: a.status, Header: a.header, Request: r,
		ContentLength: int64(a.body.Len()), Body: io.NopCloser(&a.body),
	}, nil
}

func (f *front) answer(r *http.Request, body []byte) *answer {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !known[operation] {
		return refusal(http.StatusBadRequest, "com.amazon.coral.service#UnknownOperationException",
			fmt.Sprintf("The emulator does not know the operation %q", operation))
	}
	inner := r.Clone(r.Context())
	inner.Method = http.MethodPost
	inner.Body = io.NopCloser(bytes.NewReader(hideNumbers(body)))
	return f.inTurn(inner)
}

// inTurn lets the fake answer while nothing else happens to its tables.
func (f *front) inTurn(r *http.Request) (a *answer) {
	f.turn.Lock()
	defer f.turn.Unlock()
	defer func() {
		if p := recover(); p != nil {
			a = refusal(http.StatusInternalServerError, "com.amazonaws.dynamodb.v20120810#InternalServerError",
				fmt.Sprintf("The emulator failed: %v", p))
		}
	}()
	a = newAnswer(http.StatusOK)
	f.fake.ServeHTTP(a, r)
	a.body = *bytes.NewBuffer(showNumbers(a.body.Bytes()))
	a.header.Set("Content-Length", strconv.Itoa(a.body.Len()))
	// The fake says 0, about which the SDK warns on standard error at every answer.
	a.header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(a.body.Bytes())), 10))
	return a
}

// known are the fake's operations; it answers the rest without saying which it was.
var known = map[string]bool{
	"CreateTable": true, "UpdateTable": true, "DeleteTable": true, "DescribeTable": true,
	"PutItem": true, "DeleteItem": true, "UpdateItem": true, "GetItem": true,
	"Query": true, "Scan": true, "BatchWriteItem": true, "BatchGetItem": true,
	"TransactWriteItems": true, "TransactGetItems": true,
}

// answer keeps a response until it is complete.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newAnswer(status int) *answer {
	return &answer{status: status, header: http.Header{"X-Amzn-Requestid": {rand.Text()}}}
}

func refusal(status int, code, message string) *answer {
	a := newAnswer(status)
	text, _ := json.Marshal(map[string]string{"__type": code, "message": message}) // strings: cannot fail
	a.body.Write(text)
	a.header.Set("Content-Type", "application/x-amz-json-1.0")
	a.header.Set("Content-Length", strconv.Itoa(len(text)))
	return a
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

func (a *answer) sendTo(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = a.body.WriteTo(w) // the client has gone: nobody is left to tell
}
