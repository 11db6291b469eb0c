package gcsdecider

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/storage"

	"github.com/cloudelect/cloudelect/core"
)

func TestTokenFor(t *testing.T) {
	w := newWire(t, stored(43, "2025-01-02T03:04:06Z"))
	d := w.decider(t, nil)
	for _, version := range []string{"42", "0"} {
		token, err := d.TokenFor(version)
		if err != nil {
			t.Fatal(err)
		}
		if s := token.(*Token).String(); s != version {
			t.Errorf("%s became %s", version, s)
		}
		if _, err := d.WriteEntry(context.Background(), sampleEntry(token)); err != nil {
			t.Fatal(err)
		}
		seen := w.seen()
		if got := seen[len(seen)-1].query.Get("ifGenerationMatch"); got != version {
			t.Errorf("version %s sends condition %q", version, got)
		}
	}
	for _, version := range []string{"", "-1", "x", "1.5", "0x10", "99999999999999999999", strings.Repeat("9", 5000)} {
		_, err := d.TokenFor(version)
		if !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("version %.30s: %v", version, err)
		} else if len(err.Error()) > 400 {
			t.Errorf("version %.30s: an error of %d bytes", version, len(err.Error()))
		}
	}
}

func TestInvalidParameters(t *testing.T) {
	good := newTestClient(t, newWire(t, refusal(500, "")).options(t)...)
	for _, c := range []struct {
		name           string
		client         *storage.Client
		bucket, object string
		says           string
	}{
		{"no client", nil, "bucket", "o", "NewClient"},
		{"a client nobody made", &storage.Client{}, "bucket", "o", "NewClient"},
		{"no bucket", good, "", "o", "is empty"},
		{"an address", good, "gs://bucket", "o", `leave out "gs://"`},
		{"a path", good, "bucket/folder", "o", "bare name"},
		{"short bucket", good, "ab", "o", "3 to 63"},
		{"long bucket", good, strings.Repeat("a", 64), "o", "63 characters"},
		{"very long bucket", good, strings.Repeat("abc.", 100), "o", "222"},
		{"capitals", good, "Bucket", "o", "lower case"},
		{"two dots", good, "a..b", "o", "dots"},
		{"dash at the end", good, "bucket-", "o", "begin and end"},
		{"line break in the bucket", good, "buck\net", "o", "lower case"},
		{"no object", good, "bucket", "", "is empty"},
		{"long object", good, "bucket", strings.Repeat("ä", 513), "1026 bytes"},
		{"not UTF-8", good, "bucket", "a\xff", "UTF-8"},
		{"line feed", good, "bucket", "a\nb", "line break"},
		{"carriage return", good, "bucket", "a\rb", "line break"},
		{"dot", good, "bucket", ".", "reserved"},
		{"two dots as an object", good, "bucket", "..", "reserved"},
		{"ACME", good, "bucket", ".well-known/acme-challenge/x", "acme"},
		{"everything", nil, "", "", "object name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecider(c.client, c.bucket, c.object, nil)
			_, readErr := d.ReadCurrent(context.Background())
			_, writeErr := d.WriteEntry(context.Background(), sampleEntry(&Token{}))
			for _, err := range []error{readErr, writeErr} {
				if !errors.Is(err, core.ErrBroken) || !errors.Is(err, core.ErrInvalidConfig) {
					t.Fatalf("%v", err)
				}
				text := err.Error()
				if !strings.HasPrefix(text, "gcsdecider: gs://") || !strings.Contains(text, c.says) || strings.Contains(text, "\n") {
					t.Errorf("%s", text)
				}
			}
			if d.MinWriteInterval() != time.Second {
				t.Error("MinWriteInterval needs no valid names")
			}
			_ = d.String()
		})
	}
}

func TestNamesThatExist(t *testing.T) {
	for _, bucket := range []string{"abc", "0-1_2", "example.com", strings.Repeat("a", 63), strings.Repeat("a", 63) + "." + strings.Repeat("b", 63)} {
		if fault := bucketFault(bucket); fault != "" {
			t.Errorf("bucket %s %s", bucket, fault)
		}
	}
	for _, object := range []string{"a", "/a", "a/../b", "...", "ä ö", "a\tb", strings.Repeat("a", 1024), ".well-known/other"} {
		if fault := objectFault(object); fault != "" {
			t.Errorf("object %s %s", object, fault)
		}
	}
}

func TestMinWriteInterval(t *testing.T) {
	for set, want := range map[time.Duration]time.Duration{
		0: time.Second, -1: 0, -time.Hour: 0, time.Millisecond: time.Millisecond, time.Minute: time.Minute,
	} {
		if got := NewDecider(nil, "", "", &Options{MinWriteInterval: set}).MinWriteInterval(); got != want {
			t.Errorf("%v gives %v, want %v", set, got, want)
		}
	}
}

// TestOptionsAreCopied: a caller may change its map afterwards.
func TestOptionsAreCopied(t *testing.T) {
	opts := &Options{Metadata: map[string]string{"team": "a"}}
	w := newWire(t, stored(43, "2025-01-02T03:04:06Z"))
	d := w.decider(t, opts)
	opts.Metadata["team"] = "b"
	if _, err := d.WriteEntry(context.Background(), sampleEntry(&Token{})); err != nil {
		t.Fatal(err)
	}
	metadata, _, _ := parts(t, w.seen()[0])
	if m, _ := metadata["metadata"].(map[string]any); m["team"] != "a" {
		t.Errorf("%v", metadata)
	}
}
