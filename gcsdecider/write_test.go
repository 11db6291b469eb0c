package gcsdecider

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/storage"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// TestWriteRequest looks at what goes over the wire: one request, with a
// condition that is never missing.
func TestWriteRequest(t *testing.T) {
	for _, c := range []struct {
		name      string
		base      int64
		condition string
	}{
		{"create", 0, "0"}, // Cloud Storage's word for "does not exist"
		{"overwrite", 1735787045000001, "1735787045000001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(t, stored(1735787046000002, "2025-01-02T03:04:06.000Z"))
			d := w.decider(t, &Options{UserProject: "payer", KMSKeyName: "projects/p/locations/l/keyRings/r/cryptoKeys/k",
				StorageClass: "STANDARD", Metadata: map[string]string{"team": "a"}})
			e := sampleEntry(&Token{generation: c.base})
			token, err := d.WriteEntry(context.Background(), e)
			if err != nil {
				t.Fatal(err)
			}
			if tok := token.(*Token); tok.Generation() != 1735787046000002 ||
				!tok.CommitTS().Equal(time.Date(2025, 1, 2, 3, 4, 6, 0, time.UTC)) || tok.StoreDate().IsZero() {
				t.Errorf("token %+v", tok)
			}

			seen := w.seen()
			if len(seen) != 1 {
				t.Fatalf("%d requests", len(seen))
			}
			r := seen[0]
			if r.method != http.MethodPost || r.path != "/upload/storage/v1/b/"+testBucket+"/o" {
				t.Errorf("%s %s", r.method, r.path)
			}
			for key, want := range map[string]string{
				"ifGenerationMatch": c.condition, "uploadType": "multipart", "name": testObject,
				"userProject": "payer", "kmsKeyName": "projects/p/locations/l/keyRings/r/cryptoKeys/k",
			} {
				if got := r.query[key]; len(got) != 1 || got[0] != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
			metadata, body, contentType := parts(t, r)
			stored, err := entry.Decode(body)
			if err != nil || stored.Nonce != e.Nonce || stored.ElectionNumber != e.ElectionNumber {
				t.Errorf("body %s: %v", body, err)
			}
			sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
			for key, want := range map[string]string{
				"cacheControl": "no-store", "contentType": "application/json", "storageClass": "STANDARD",
				"crc32c": base64.StdEncoding.EncodeToString(sum),
			} {
				if metadata[key] != want {
					t.Errorf("metadata %s is %v, want %s", key, metadata[key], want)
				}
			}
			if m, _ := metadata["metadata"].(map[string]any); m["team"] != "a" {
				t.Errorf("metadata %v", metadata["metadata"])
			}
			if contentType != "application/json" {
				t.Errorf("content type %s", contentType)
			}
		})
	}
}

// TestWriteLeavesTheClientAlone: the caller's client retries as its owner said,
// before, between and after our single attempts.
func TestWriteLeavesTheClientAlone(t *testing.T) {
	w := newWire(t, refusal(503, apiError(503, "backendError", "Backend Error")))
	client := newTestClient(t, w.options(t)...)
	client.SetRetry(storage.WithPolicy(storage.RetryAlways), storage.WithMaxAttempts(2),
		storage.WithBackoff(backoff))
	d := NewDecider(client, testBucket, testObject, nil)
	for range 2 {
		if _, err := d.WriteEntry(context.Background(), sampleEntry(&Token{})); err == nil || errors.Is(err, core.ErrBroken) {
			t.Fatalf("%v", err)
		}
	}
	if n := len(w.seen()); n != 2 {
		t.Fatalf("%d requests for two writes", n)
	}
	if _, err := client.Bucket(testBucket).Object(testObject).Attrs(context.Background()); err == nil {
		t.Fatal("no error")
	}
	if n := len(w.seen()); n != 4 {
		t.Errorf("%d requests after the owner's own call, which makes two attempts", n-2)
	}
}

// TestRefusedBeforeSending: a programming error costs no request and is not
// taken for an answer of the store.
func TestRefusedBeforeSending(t *testing.T) {
	w := newWire(t, stored(1, "2025-01-02T03:04:06Z"))
	d := w.decider(t, nil)
	invalid := sampleEntry(&Token{})
	invalid.TermLength = 0
	huge := sampleEntry(&Token{})
	huge.ConnectionParams = make([]byte, maxSize)
	for _, c := range []struct {
		name string
		e    *entry.RaceEntry
		says string
	}{
		{"no entry", nil, "there is no entry"},
		{"no token", sampleEntry(nil), "no token"},
		{"empty token", sampleEntry((*Token)(nil)), "token is empty"},
		{"negative generation", sampleEntry(&Token{generation: -1}), "token is empty"},
		{"foreign token", sampleEntry(foreignToken{}), "foreignToken"},
		{"invalid entry", invalid, "term_length"},
		{"too large", huge, "more than 262144"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.WriteEntry(context.Background(), c.e)
			var failed core.FailedAcquisitionErr
			if !errors.Is(err, core.ErrBroken) || !errors.Is(err, core.ErrInvalidConfig) || errors.As(err, &failed) {
				t.Errorf("%v is not broken and a misuse", err)
			}
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not mention %q", err, c.says)
			}
		})
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

type foreignToken struct{}

func (foreignToken) CommitTS() time.Time { return time.Time{} }

// TestUnusableSuccess: an answer that says 200 and does not name the version
// proves nothing.
func TestUnusableSuccess(t *testing.T) {
	for name, body := range map[string]string{
		"no generation": `{"name":"x"}`, "a page": page, "nothing": "", "cut off": `{"generation":"1`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, refusal(200, body))
			for _, op := range []operation{create, overwrite} {
				e, err := ask(w.decider(t, nil), op)
				checkOutcome(t, op, unknown, e, err)
			}
		})
	}
}
