package stores_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
)

func TestParse(t *testing.T) {
	for _, raw := range []string{
		"gs://my-bucket/elections/nightly", "gs://my.bucket_1/a", "gs://abc/a%20b=c&d", "gs://abc/ä/b", "mem://a", "mem://a/b",
	} {
		if loc, err := stores.Parse(raw); err != nil || loc.String() != raw {
			t.Errorf("Parse(%q) = %v, %v", raw, loc, err)
		}
	}
	for raw, says := range map[string]string{
		"":                     "empty",
		"bucket/object":        "no scheme",
		"gs:/bucket/object":    "no scheme",
		"://bucket/object":     "unknown scheme",
		"http://bucket/object": "unknown scheme",
		"GS://bucket/object":   "gs://bucket/object",
		"s3://bucket/key":      "not in this build",
		"dynamodb://table/key": "not in this build",
		"gs://":                "no bucket",
		"gs:///object":         "no bucket",
		"gs://bucket":          "no object",
		"gs://bucket/":         "no object",
		"gs://bucket/folder/":  "slash",
		"gs://bucket//object":  "slashes",
		"gs://Bucket/object":   "lower case",
		"gs://b/object":        "3 or more",
		"gs://user@bucket/o":   "lower case",
		"gs://bucket:80/o":     "lower case",
		"gs://bucket/o?x=1":    "query",
		"gs://bucket/o#12":     `"#"`,
		" gs://bucket/o":       "white space",
		"gs://bucket/o o":      "white space",
		"gs://bucket/o\n":      "white space",
		"gs://bucket/o\x00":    "does not print",
		"gs://bucket/\xff":     "UTF-8",
		"mem://":               "names nothing",
		"mem:///":              "names nothing",
	} {
		_, err := stores.Parse(raw)
		if !errors.Is(err, stores.ErrURL) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "://") {
			t.Errorf("Parse(%q) = %v, want an error that says %q and what is right", raw, err, says)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, raw := range []string{"gs://bucket/object", "mem://x", "s3://b/k", "gs://bucket/o?x", "://", "GS://b/o", "gs://\xff/\n"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		loc, err := stores.Parse(raw)
		if err != nil {
			if !errors.Is(err, stores.ErrURL) || strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 1500 {
				t.Errorf("Parse(%q): error %q is not one short line", raw, err)
			}
			return
		}
		if loc.String() != raw || loc.Name == "" || loc.Scheme == stores.SchemeGCS && loc.Bucket == "" {
			t.Errorf("Parse(%q) = %+v, which is %q", raw, loc, loc)
		}
	})
}

func TestMemoryStoresAreSharedByName(t *testing.T) {
	var o stores.Opener
	open := func(url string) *stores.Store {
		s, err := o.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	a, same, other := open("mem://a"), open("mem://a"), open("mem://b")
	o.Memory("a").Lead("x", time.Minute)
	for s, want := range map[*stores.Store]string{a: "x", same: "x", other: ""} {
		if e, err := s.Decider.ReadCurrent(t.Context()); err != nil || e.LeaderID != want {
			t.Errorf("%s: %+v, %v, want leader %q", s.URL, e, err, want)
		}
	}
	if _, err := a.TokenFor("1"); !errors.Is(err, stores.ErrNoVersions) {
		t.Errorf("TokenFor: %v", err)
	}
}

func TestGCS(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1") // nothing is sent
	s, err := new(stores.Opener).Open(t.Context(), "gs://bucket/a/b")
	if err != nil {
		t.Fatal(err)
	}
	if s.URL != "gs://bucket/a/b" {
		t.Errorf("URL %q", s.URL)
	}
	if tok, err := s.TokenFor("12"); err != nil || tok == nil {
		t.Errorf("TokenFor(12) = %v, %v", tok, err)
	}
	if _, err := s.TokenFor("x"); !errors.Is(err, core.ErrInvalidConfig) {
		t.Errorf("TokenFor(x): %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
