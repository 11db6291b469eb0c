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
		"s3://my-bucket/elections/nightly", "s3://Old.Bucket_1/a", "s3://tenant:bucket/a", "s3://abc/a%20b=c&d",
		"s3://bkt/k?region=auto&endpoint=https://host.example:9000/storage/v1/s3&path-style=true", "s3://bkt/k?path-style=false",
		"s3://bkt/k?region=auto&endpoint=https://h&path-style=true&write-interval=1s", "s3://bkt/k?write-interval=1.5s",
		"s3://bkt/k?endpoint=http://[::1]:9000", "s3://bkt/k?endpoint=http://h/a%26b%2541",
		"s3://arn:aws:s3:eu-central-1:123456789012:accesspoint/mine/elections/nightly",
		"dynamodb://elections/nightly", "dynamodb://My_Table.1/a/b", "dynamodb://elections/a?region=us-gov-west-1&endpoint=http://127.0.0.1:8000",
		"dynamodb://arn:aws:dynamodb:eu-central-1:123456789012:table/elections/nightly/a",
	} {
		if loc, err := stores.Parse(raw); err != nil || loc.String() != raw {
			t.Errorf("Parse(%q) = %v, %v", raw, loc, err)
		}
	}
	for raw, says := range map[string]string{
		"":                                             "empty",
		"bucket/object":                                "no scheme",
		"gs:/bucket/object":                            "no scheme",
		"://bucket/object":                             "unknown scheme",
		"http://bucket/object":                         "unknown scheme",
		"GS://bucket/object":                           "gs://bucket/object",
		"S3://bucket/key":                              "s3://bucket/key",
		"s3":                                           "no scheme",
		"s3://":                                        "no bucket",
		"s3:///key":                                    "no bucket",
		"s3://bucket":                                  "no key",
		"s3://bucket/":                                 "no key",
		"s3://bucket/folder/":                          "folder",
		"s3://bucket//key":                             "two slashes",
		"s3://b/key":                                   "cannot be one",
		"s3://user@bucket/k":                           "cannot be one",
		"s3://localhost:9000/bucket/key":               "a host and a port",
		"s3://bucket/k#1":                              `"#"`,
		"s3://bucket/k?":                               "nothing behind its question mark",
		"s3://bucket/k?regoin=x":                       `unknown option "regoin"`,
		"s3://bucket/k?region=a&":                      "without a name",
		"s3://bucket/k?=a":                             "without a name",
		"s3://bucket/k?region":                         "region without a value",
		"s3://bucket/k?region=":                        "region without a value",
		"s3://bucket/k?region=a&region=b":              "region twice",
		"s3://bucket/k?region=eu.central.1":            "cannot be one",
		"s3://bucket/k?region=%zz":                     "encoded wrongly",
		"s3://bucket/k?region=eu%0acentral":            "cannot be one",
		"s3://bucket/k?path-style=yes":                 "neither true nor false",
		"s3://bucket/k?write-interval=1":               "has the write-interval",
		"s3://bucket/k?write-interval=0s":              "has the write-interval",
		"s3://bucket/k?write-interval=-1s":             "has the write-interval",
		"s3://bucket/k?write-interval=1h":              "has the write-interval",
		"dynamodb://table/k?write-interval=1s":         `unknown option "write-interval"`,
		"s3://bucket/k?endpoint=127.0.0.1:9000":        "does not begin with http",
		"s3://bucket/k?endpoint=ftp://host":            "does not begin with http",
		"s3://bucket/k?endpoint=http://":               "names no host",
		"s3://bucket/k?endpoint=http://:9000":          "names no host",
		"s3://bucket/k?endpoint=http://h?x":            "query of its own",
		"s3://bucket/k?endpoint=http://h%23x":          `"#"`,
		"s3://bucket/k?endpoint=http://me:secret@host": "contains a user",
		"s3://arn:aws:s3::123456789012:accesspoint/everywhere.mrap/k": "cannot be one",
		"dynamodb://":                              "no table",
		"dynamodb:///x":                            "no table",
		"dynamodb://elections":                     "no election",
		"dynamodb://elections/":                    "no election",
		"dynamodb://elections/a/":                  "folder",
		"dynamodb://t/a":                           "3 to 255",
		"dynamodb://ta:ble/a":                      "3 to 255",
		"dynamodb://elections/a?path-style=true":   "unknown option",
		"dynamodb://elections/a?region=eu central": "white space",
		"mem://a?x=1":                              "query",
		"gs://":                                    "no bucket",
		"gs:///object":                             "no bucket",
		"gs://bucket":                              "no object",
		"gs://bucket/":                             "no object",
		"gs://bucket/folder/":                      "slash",
		"gs://bucket//object":                      "slashes",
		"gs://Bucket/object":                       "lower case",
		"gs://b/object":                            "3 or more",
		"gs://user@bucket/o":                       "lower case",
		"gs://bucket:80/o":                         "lower case",
		"gs://bucket/o?x=1":                        "query",
		"gs://bucket/o#12":                         `"#"`,
		" gs://bucket/o":                           "white space",
		"gs://bucket/o o":                          "white space",
		"gs://bucket/o\n":                          "white space",
		"gs://bucket/o\x00":                        "does not print",
		"gs://bucket/\xff":                         "UTF-8",
		"mem://":                                   "names nothing",
		"mem:///":                                  "names nothing",
	} {
		_, err := stores.Parse(raw)
		if !errors.Is(err, stores.ErrURL) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "://") {
			t.Errorf("Parse(%q) = %v, want an error that says %q and what is right", raw, err, says)
		}
	}
}

// What a URL says in another order, or percent-encoded, is the same store.
func TestCanonicalURL(t *testing.T) {
	loc, err := stores.Parse("s3://bkt/k?path-style=true&endpoint=http%3A%2F%2Fh%3A1&region=eu-central-1")
	want := "s3://bkt/k?region=eu-central-1&endpoint=http://h:1&path-style=true"
	if err != nil || loc.String() != want {
		t.Errorf("%q, %v, want %s", loc, err, want)
	}
}

func TestPasswordsAreNotPrinted(t *testing.T) {
	for _, raw := range []string{"s3://bkt/k?endpoint=http://me:secret@host", "s3://bkt/k?x=1&endpoint=http://me:secret@host"} {
		if _, err := stores.Parse(raw); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Parse(%q): %v", raw, err)
		}
	}
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
