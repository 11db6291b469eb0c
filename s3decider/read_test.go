package s3decider

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

func TestRead(t *testing.T) {
	for _, etag := range []string{testETag, `W/"weak"`, "unquoted", `"with, comma and *"`, `"0-2"`} {
		w := newWire(t, stored(etag, sampleBody(t)))
		e, err := w.decider(t, &Options{ExpectedBucketOwner: "111122223333"}).ReadCurrent(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		token := e.Token.(*Token)
		if e.Nonce != "nonce-1" || e.ElectionNumber != 7 || token.ETag() != etag || token.String() != etag ||
			!token.CommitTS().Equal(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)) || token.StoreDate().IsZero() {
			t.Errorf("entry %+v, token %+v", e, token)
		}
		seen := w.seen()
		if len(seen) != 1 || seen[0].path != "/"+testBucket+"/"+testKey || seen[0].header.Get("X-Amz-Expected-Bucket-Owner") != "111122223333" {
			t.Errorf("requests %+v", seen)
		}
		if mode := seen[0].header.Get("X-Amz-Checksum-Mode"); mode != "" {
			t.Errorf("asks an endpoint that is not AWS for a checksum: %s", mode)
		}
	}
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
			e, err := newWire(t, stored(testETag, body)).decider(t, nil).ReadCurrent(context.Background())
			if !errors.Is(err, core.ErrBadEntry) || errors.Is(err, core.ErrBroken) {
				t.Fatalf("%v", err)
			}
			if e == nil || e.Token.(*Token).ETag() != testETag || e.LeaderID != "" || e.Nonce != "" {
				t.Fatalf("entry %+v", e)
			}
			if !strings.Contains(err.Error(), "s3decider: s3://bucket-1/") ||
				strings.Contains(err.Error(), "elect break --store 's3://bucket-1/") == isNewer ||
				strings.Contains(err.Error(), " --corrupt --version '"+testETag+"'") == isNewer {
				t.Errorf("%v", err)
			}
			if isNewer && (!errors.Is(err, entry.ErrNewer) || !strings.Contains(err.Error(), "update this program")) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestReadWithoutETag: a store that leaves the ETag out cannot carry an election; a
// page without one is anybody's.
func TestReadWithoutETag(t *testing.T) {
	for _, etag := range []string{"", "*", "  "} {
		e, err := ask(newWire(t, stored(etag, sampleBody(t))).decider(t, nil), read)
		checkOutcome(t, read, broken, e, err)
		if !strings.Contains(err.Error(), "ETag") {
			t.Errorf("%v", err)
		}
		e, err = ask(newWire(t, stored(etag, []byte(page))).decider(t, nil), read)
		checkOutcome(t, read, unknown, e, err)
	}
}

// TestReadBreaksOff: half an entry is not a bad entry but no answer.
func TestReadBreaksOff(t *testing.T) {
	w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Length", "1000")
		stored(testETag, sampleBody(t)[:40])(rw, r)
	})
	e, err := ask(w.decider(t, nil), read)
	checkOutcome(t, read, unknown, e, err)
}

// TestReadRetries within its call, as the client is set up to; the writes of the
// same client do not.
func TestReadRetries(t *testing.T) {
	fails := true
	w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
		if fails = !fails; !fails {
			refusal(503, xmlError("SlowDown", "no"))(rw, r)
			return
		}
		stored(testETag, sampleBody(t))(rw, r)
	})
	d := NewDecider(newTestClient(t, w.URL, nil), testBucket, testKey, nil)
	if _, err := d.ReadCurrent(context.Background()); err != nil {
		t.Error(err)
	}
	e, err := ask(d, overwrite)
	checkOutcome(t, overwrite, unknown, e, err)
	if n := len(w.seen()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

// TestDates: every answer carries the store's clock, a missing object's too, and
// none out of a cache does.
func TestDates(t *testing.T) {
	const date = "Wed, 02 Jan 2030 03:04:05 GMT"
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name   string
		header []string
		want   time.Time
	}{
		{"dated", []string{"Date", date}, at},
		{"cached", []string{"Date", date, "Age", "0"}, time.Time{}},
		{"undated", []string{"Date", ""}, time.Time{}},
		{"nonsense", []string{"Date", "yesterday"}, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dated := func(answer http.HandlerFunc) http.HandlerFunc {
				return func(rw http.ResponseWriter, r *http.Request) {
					for i := 0; i < len(c.header); i += 2 {
						rw.Header().Set(c.header[i], c.header[i+1])
					}
					answer(rw, r)
				}
			}
			tokens := map[string]entry.LeaderToken{}
			for op, answer := range map[operation]http.HandlerFunc{
				read: stored(testETag, sampleBody(t)), create: stored(testETag, nil), overwrite: stored(testETag, nil),
			} {
				e, err := ask(newWire(t, dated(answer)).decider(t, nil), op)
				must(t, err)
				tokens[op.String()] = e.Token
			}
			e, err := ask(newWire(t, dated(refusal(404, xmlError("NoSuchKey", "no")))).decider(t, nil), read)
			must(t, err)
			tokens["read of nothing"] = e.Token
			e, _ = ask(newWire(t, dated(stored(testETag, []byte("rubbish")))).decider(t, nil), read)
			tokens["read of rubbish"] = e.Token
			for what, token := range tokens {
				if got := token.(core.DatedToken).StoreDate(); !got.Equal(c.want) {
					t.Errorf("%s: %v, want %v", what, got, c.want)
				}
			}
		})
	}
}
