package gcs

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// front is the handler before the fake's: it puts the writes in order and
// words the answers about missing things.
type front struct {
	fake    *fakestorage.Server
	handler http.Handler
	host    string
	now     func() time.Time

	writing   sync.Mutex
	lastMicro int64 // the clock when the last write had ended, at or after its generation
}

func newFront(fake *fakestorage.Server, host string) *front {
	return &front{fake: fake, handler: fake.HTTPHandler(), host: host, now: time.Now}
}

func (f *front) hasBucket(name string) bool {
	_, err := f.fake.Backend().GetBucket(name)
	return err == nil
}

// write runs one change of the store. Changes do not overlap, and each begins in
// a later microsecond than any before, since that microsecond is the
// generation. A clock that was set back is waited for, up to patience.
func (f *front) write(change func() error) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	started := time.Now() // with its monotonic reading, which does not jump
	for f.now().UnixMicro() <= f.lastMicro {
		if time.Sleep(time.Microsecond); time.Since(started) > patience {
			return fmt.Errorf("gcs: this machine's clock was set back by more than %s; generations would come twice, start a new emulator", patience)
		}
	}
	err := change()
	f.lastMicro = max(f.lastMicro, f.now().UnixMicro())
	return err
}

const patience = 5 * time.Second

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A client may have come through a proxy, by another host name. The fake
	// must see the name it knows, or it takes the host for a bucket.
	calledBy := r.Host
	if forwarded := r.Header.Get("X-Forwarded-Host"); forwarded != "" {
		calledBy = forwarded
	}
	r.Host = f.host

	answer := &answer{header: http.Header{}, status: http.StatusOK}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		f.handler.ServeHTTP(answer, r)
	} else {
		// The whole body first: a slow sender must not keep the others waiting.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "reading the request body: "+err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		err = f.write(func() error { f.handler.ServeHTTP(answer, r); return nil })
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	if answer.status == http.StatusNotFound {
		f.explainMissing(answer, r)
	}
	if session, ok := strings.CutPrefix(answer.header.Get("Location"), "http://"+f.host); ok {
		answer.header.Set("Location", "http://"+calledBy+session) // the next chunk comes the same way
	}
	answer.sendTo(w, r.Method)
}

// answer keeps a response until the lock is released and its body is final.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

func (a *answer) sendTo(w http.ResponseWriter, method string) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	if method != http.MethodHead {
		_, _ = a.body.WriteTo(w) // the client has gone: nobody is left to tell
	}
}
