package gcsdecider

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// backoff of tests that need the client to retry.
var backoff = gax.Backoff{Initial: time.Millisecond, Max: time.Millisecond, Multiplier: 1}

func sampleBody(t testing.TB) []byte {
	t.Helper()
	body, err := entry.Encode(sampleEntry(nil))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestRead(t *testing.T) {
	body := sampleBody(t)
	w := newWire(t, content("1735787045000001", body))
	for name, d := range map[string]*Decider{
		"our client":          w.decider(t, nil),
		"a client, XML reads": plainDecider(t, w),
	} {
		t.Run(name, func(t *testing.T) {
			before := len(w.seen())
			e, err := d.ReadCurrent(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			tok := e.Token.(*Token)
			if e.Nonce != "nonce-1" || e.ElectionNumber != 7 || tok.Generation() != 1735787045000001 ||
				!tok.CommitTS().Equal(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)) {
				t.Errorf("entry %+v, token %+v", e, tok)
			}
			if n := len(w.seen()) - before; n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// plainDecider uses a client that was made elsewhere: it reads XML, and nobody
// notes dates.
func plainDecider(t testing.TB, w *wire) *Decider {
	t.Helper()
	client, err := storage.NewClient(context.Background(), w.options(t)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return NewDecider(client, testBucket, testObject, nil)
}

// TestReadBadContent: what is no entry is never "free", and comes with the
// token that can break it.
func TestReadBadContent(t *testing.T) {
	newer := bytes.Replace(sampleBody(t), []byte(`"cloudelect": 1`), []byte(`"cloudelect": 2`), 1)
	for name, body := range map[string][]byte{
		"empty": {}, "text": []byte("hello"), "other JSON": []byte(`{"a":1}`), "a newer version": newer,
		"cut off":   sampleBody(t)[:40],
		"too large": append(sampleBody(t), bytes.Repeat([]byte(" "), maxSize)...),
	} {
		isNewer := name == "a newer version" // which nobody is told how to destroy
		t.Run(name, func(t *testing.T) {
			d := newWire(t, content("42", body)).decider(t, nil)
			e, err := d.ReadCurrent(context.Background())
			checkBad(t, e, err)
			if !strings.Contains(err.Error(), "gcsdecider: gs://bucket-1/") ||
				strings.Contains(err.Error(), "elect break --store 'gs://bucket-1/") == isNewer ||
				strings.Contains(err.Error(), " --corrupt --version '42'") == isNewer {
				t.Errorf("%v", err)
			}
			if isNewer && (!errors.Is(err, entry.ErrNewer) || !strings.Contains(err.Error(), "update this program")) {
				t.Errorf("%v", err)
			}
		})
	}
}

func checkBad(t *testing.T, e *entry.RaceEntry, err error) {
	t.Helper()
	if !errors.Is(err, core.ErrBadEntry) || errors.Is(err, core.ErrBroken) {
		t.Fatalf("%v", err)
	}
	if e == nil || e.Token.(*Token).Generation() != 42 || e.LeaderID != "" || e.Nonce != "" {
		t.Fatalf("entry %+v", e)
	}
}

// TestReadCompressed: compression by a proxy, or by whoever uploaded the object,
// goes unnoticed.
func TestReadCompressed(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(sampleBody(t))
	z.Close()
	w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		rw.Header().Set("X-Goog-Hash", "crc32c=AAAAAA==") // of what is stored, not of what is read
		content("42", zipped.Bytes())(rw, r)
	})
	for _, d := range []*Decider{w.decider(t, nil), plainDecider(t, w)} {
		e, err := d.ReadCurrent(context.Background())
		if err != nil || e.Nonce != "nonce-1" {
			t.Fatalf("%+v, %v", e, err)
		}
	}
}

// TestReadFalselyCompressed: the client would open an object again and again that
// is marked as gzip and is not.
func TestReadFalselyCompressed(t *testing.T) {
	w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		content("42", []byte("this is not gzip"))(rw, r)
	})
	e, err := w.decider(t, nil).ReadCurrent(context.Background())
	checkBad(t, e, err)
	if n := len(w.seen()); n > maxRequests+1 {
		t.Errorf("%d requests", n)
	}
}

// TestReadInterrupted: a body that breaks off is read on, at the same
// generation; one that always breaks off is not reported as a bad entry.
func TestReadInterrupted(t *testing.T) {
	body := sampleBody(t)
	for _, c := range []struct {
		name   string
		breaks int32
	}{{"once", 1}, {"always", 1 << 20}} {
		t.Run(c.name, func(t *testing.T) {
			var requests atomic.Int32
			w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
				n := requests.Add(1)
				var start int
				if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &start); err == nil {
					rw.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(body)-1, len(body)))
				}
				rw.Header().Set("X-Goog-Generation", "42")
				rw.Header().Set("Content-Length", fmt.Sprint(len(body)-start))
				if start > 0 {
					if got := r.URL.Query().Get("generation"); got != "42" {
						t.Errorf("continued at generation %q", got)
					}
					rw.WriteHeader(http.StatusPartialContent)
				}
				if n > c.breaks {
					rw.Write(body[start:])
					return
				}
				if start == 0 {
					rw.Write(body[:10])
				}
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			})
			e, err := w.decider(t, nil).ReadCurrent(context.Background())
			if c.breaks == 1 {
				if err != nil || e.Nonce != "nonce-1" {
					t.Fatalf("%+v, %v", e, err)
				}
				return
			}
			checkOutcome(t, read, unknown, e, err)
			if n := len(w.seen()); n > maxRequests+1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestReadRetries: a failure that passes is not the caller's business; one that
// stays is, soon.
func TestReadRetries(t *testing.T) {
	var requests atomic.Int32
	w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
		if requests.Add(1) < readAttempts {
			refusal(503, "no")(rw, r)
			return
		}
		content("42", sampleBody(t))(rw, r)
	})
	if e, err := w.decider(t, nil).ReadCurrent(context.Background()); err != nil || e.Nonce != "nonce-1" {
		t.Fatalf("%+v, %v", e, err)
	}

	w = newWire(t, refusal(503, "no"))
	e, err := w.decider(t, nil).ReadCurrent(context.Background())
	checkOutcome(t, read, unknown, e, err)
	if n := len(w.seen()); n != readAttempts {
		t.Errorf("%d requests", n)
	}
}

// TestReadWithoutGeneration: bytes whose version is not known are of no use.
func TestReadWithoutGeneration(t *testing.T) {
	for _, generation := range []string{"", "0"} {
		w := newWire(t, content(generation, sampleBody(t)))
		e, err := w.decider(t, nil).ReadCurrent(context.Background())
		checkOutcome(t, read, unknown, e, err)
	}
}
