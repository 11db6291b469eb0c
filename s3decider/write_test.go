package s3decider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// TestWrite looks at the requests: one each, with the condition, the ETag as it
// came, and what Options say.
func TestWrite(t *testing.T) {
	const weak = `W/"abc, def"`
	w := newWire(t, stored(`"next"`, nil))
	d := w.decider(t, &Options{
		KMSKeyID: "alias/elections", BucketKey: true, StorageClass: types.StorageClassStandardIa,
		Tags: map[string]string{"team": "a b", "x": "&="}, ExpectedBucketOwner: "111122223333",
	})
	for _, base := range []*Token{{}, {etag: testETag}, {etag: weak}} {
		token, err := d.WriteEntry(context.Background(), sampleEntry(base))
		if err != nil {
			t.Fatal(err)
		}
		if got := token.(*Token); got.ETag() != `"next"` || got.StoreDate().IsZero() || !got.CommitTS().IsZero() {
			t.Errorf("token %+v", got)
		}
	}
	seen := w.seen()
	if len(seen) != 3 {
		t.Fatalf("%d requests", len(seen))
	}
	for i, r := range seen {
		want := map[string]string{
			"If-None-Match": "", "If-Match": "",
			"Content-Type": "application/json", "Cache-Control": "no-store",
			"X-Amz-Server-Side-Encryption":                    "aws:kms",
			"X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id":     "alias/elections",
			"X-Amz-Server-Side-Encryption-Bucket-Key-Enabled": "true",
			"X-Amz-Storage-Class":                             "STANDARD_IA",
			"X-Amz-Tagging":                                   "team=a+b&x=%26%3D",
			"X-Amz-Expected-Bucket-Owner":                     "111122223333",
			"Content-Encoding":                                "", "X-Amz-Trailer": "", "X-Amz-Checksum-Crc32": "", "X-Amz-Sdk-Checksum-Algorithm": "",
		}
		switch i {
		case 0:
			want["If-None-Match"] = "*"
		case 1:
			want["If-Match"] = testETag
		case 2:
			want["If-Match"] = weak
		}
		for name, value := range want {
			if got := r.header.Get(name); got != value {
				t.Errorf("request %d: %s is %q, want %q", i, name, got, value)
			}
		}
		if r.method != http.MethodPut || r.path != "/"+testBucket+"/"+testKey || !bytes.Equal(r.body, sampleBody(t)) {
			t.Errorf("request %d: %s %s: %s", i, r.method, r.path, r.body)
		}
	}
}

// TestWriteWithoutETag: stored, perhaps, but nothing can be built on it.
func TestWriteWithoutETag(t *testing.T) {
	for _, op := range []operation{create, overwrite} {
		e, err := ask(newWire(t, stored("", nil)).decider(t, nil), op)
		checkOutcome(t, op, unknown, e, err)
		if !strings.Contains(err.Error(), "ETag") {
			t.Errorf("%v", err)
		}
	}
}

// TestChecksums are sent where they are required, asked for, or understood for
// certain: towards AWS. Those that were asked for are plain headers. The client itself
// stays as it is.
func TestChecksums(t *testing.T) {
	const header = "X-Amz-Checksum-Sha256"
	for _, c := range []struct {
		name, endpoint string
		algorithm      types.ChecksumAlgorithm
		client         func(*s3.Options)
		want           string // the header that has it
	}{
		{name: "AWS", want: "X-Amz-Trailer"},
		{name: "a VPC endpoint", endpoint: "https://bucket.vpce-1.s3.eu-west-1.vpce.amazonaws.com", want: "X-Amz-Trailer"},
		{name: "another store", endpoint: "https://s3.example.com"},
		{name: "another store that looks like it", endpoint: "https://amazonaws.com.example.com"},
		{name: "SHA256", endpoint: "https://s3.example.com", algorithm: types.ChecksumAlgorithmSha256, want: header},
		{name: "SHA256, on AWS", algorithm: types.ChecksumAlgorithmSha256, want: header},
		{name: "SHA1", endpoint: "https://s3.example.com", algorithm: types.ChecksumAlgorithmSha1, want: "X-Amz-Checksum-Sha1"},
		{name: "CRC32", endpoint: "https://s3.example.com", algorithm: types.ChecksumAlgorithmCrc32, want: "X-Amz-Checksum-Crc32"},
		{name: "CRC32C", endpoint: "http://s3.example.com", algorithm: types.ChecksumAlgorithmCrc32c, want: "X-Amz-Checksum-Crc32c"},
		{name: "left to the SDK", endpoint: "http://s3.example.com", algorithm: types.ChecksumAlgorithmCrc64nvme, want: "X-Amz-Checksum-Crc64nvme"},
		{name: "AWS, switched off by the client", client: func(o *s3.Options) {
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got http.Header
			client := newTestClient(t, c.endpoint, transportFunc(func(r *http.Request) (*http.Response, error) {
				got = r.Header.Clone()
				_, err := io.Copy(io.Discard, r.Body)
				r.Body.Close()
				return &http.Response{StatusCode: 200, Header: http.Header{"Etag": {testETag}}, Body: http.NoBody, Request: r}, err
			}), func(o *s3.Options) {
				if c.endpoint == "" {
					o.BaseEndpoint = nil
				}
				o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported
				if c.client != nil {
					c.client(o)
				}
			})
			before := client.Options().RequestChecksumCalculation
			if _, err := NewDecider(client, testBucket, testKey, &Options{ChecksumAlgorithm: c.algorithm}).WriteEntry(context.Background(), sampleEntry(&Token{})); err != nil {
				t.Fatal(err)
			}
			for name := range got {
				if has := strings.HasPrefix(name, "X-Amz-Checksum-") || name == "X-Amz-Trailer"; has != (name == c.want) {
					t.Errorf("want %q: %s: %s", c.want, name, got.Get(name))
				}
			}
			if c.want != "" && got.Get(c.want) == "" {
				t.Errorf("no %s: %v", c.want, got)
			}
			sum := sha256sum(sampleBody(t))
			if c.want == header && got.Get(header) != sum {
				t.Errorf("%s, want %s", got.Get(header), sum)
			}
			if after := client.Options(); after.RequestChecksumCalculation != before || after.RetryMaxAttempts == 1 {
				t.Error("the caller's client was changed")
			}
		})
	}
}

func sha256sum(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// otherToken is another decider's.
type otherToken struct{ *Token }

// TestRefusedBeforeSending: what cannot be right is not sent.
func TestRefusedBeforeSending(t *testing.T) {
	w := newWire(t, stored(testETag, nil))
	good := sampleEntry(&Token{})
	change := func(f func(*entry.RaceEntry)) *entry.RaceEntry { e := good.Clone(); f(&e); return &e }
	for name, e := range map[string]*entry.RaceEntry{
		"no entry":          nil,
		"no token":          change(func(e *entry.RaceEntry) { e.Token = nil }),
		"a nil token":       change(func(e *entry.RaceEntry) { e.Token = (*Token)(nil) }),
		"a foreign token":   change(func(e *entry.RaceEntry) { e.Token = otherToken{} }),
		"no nonce":          change(func(e *entry.RaceEntry) { e.Nonce = "" }),
		"too many bytes":    change(func(e *entry.RaceEntry) { e.ConnectionParams = make([]byte, maxSize) }),
		"a term of nothing": change(func(e *entry.RaceEntry) { e.TermLength = 0 }),
	} {
		_, err := w.decider(t, nil).WriteEntry(context.Background(), e)
		if !errors.Is(err, core.ErrBroken) || !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), "not sent") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// narrow is an API without DeleteObject.
type narrow struct{ API }

// TestParameters: whatever is wrong with them is said by every method, all at once.
func TestParameters(t *testing.T) {
	w := newWire(t, stored(testETag, sampleBody(t)))
	client := newTestClient(t, w.URL, nil)
	for _, c := range []struct {
		name        string
		client      API
		bucket, key string
		opts        *Options
		says        []string
	}{
		{"no client", nil, testBucket, testKey, nil, []string{"no client"}},
		{"a nil client", (*s3.Client)(nil), testBucket, testKey, nil, []string{"no client"}},
		{"a client nobody made", new(s3.Client), testBucket, testKey, nil, []string{"no client"}},
		{"nothing", nil, "", "", nil, []string{"no client", "bucket name", "key"}},
		{"an address for a bucket", client, "s3://bucket", testKey, nil, []string{`leave out "s3://"`}},
		{"a path for a bucket", client, "bucket/a", testKey, nil, []string{"everything after the bucket"}},
		{"a short bucket", client, "ab", testKey, nil, []string{"3 to 63"}},
		{"dots for a bucket", client, "...", testKey, nil, []string{"dots"}},
		{"a bucket with a space", client, "a bucket", testKey, nil, []string{"letters"}},
		{"an access point with a line break", client, "arn:aws:s3:\n", testKey, nil, []string{"control"}},
		{"no key", client, testBucket, "", nil, []string{"is empty"}},
		{"a folder", client, testBucket, "elections/", nil, []string{"is a folder"}},
		{"a root", client, testBucket, "/elections", nil, []string{"begins with a slash"}},
		{"a climbing key", client, testBucket, "a/../b", nil, []string{"proxies"}},
		{"a long key", client, testBucket, strings.Repeat("k", 1025), nil, []string{"1025 bytes"}},
		{"a key that is no text", client, testBucket, "a\xff", nil, []string{"UTF-8"}},
		{"a key of two lines", client, testBucket, "a\nb", nil, []string{"control"}},
		{"a bucket key for no key", client, testBucket, testKey, &Options{BucketKey: true}, []string{"BucketKey"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecider(c.client, c.bucket, c.key, c.opts)
			_, readErr := d.ReadCurrent(context.Background())
			_, writeErr := d.WriteEntry(context.Background(), sampleEntry(&Token{}))
			_, probeErr := d.Probe(context.Background())
			for _, err := range []error{readErr, writeErr, probeErr} {
				if !errors.Is(err, core.ErrBroken) || !errors.Is(err, core.ErrInvalidConfig) {
					t.Fatalf("%v", err)
				}
				for _, s := range c.says {
					if !strings.Contains(err.Error(), s) {
						t.Errorf("does not mention %q: %v", s, err)
					}
				}
			}
		})
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
	for _, ok := range []string{"arn:aws:s3:eu-west-1:111122223333:accesspoint/elections", "Old_Bucket.1", "b--use1-az4--x-s3"} {
		if fault := bucketFault(ok); fault != "" {
			t.Errorf("%s %s", ok, fault)
		}
	}
	if _, err := NewDecider(narrow{client}, testBucket, testKey, nil).ReadCurrent(context.Background()); err != nil {
		t.Errorf("an API that is not *s3.Client: %v", err)
	}
}

func TestMinWriteInterval(t *testing.T) {
	for set, want := range map[time.Duration]time.Duration{0: 0, -1: 0, time.Second: time.Second} {
		d := NewDecider(nil, testBucket, testKey, &Options{MinWriteInterval: set})
		if got := d.MinWriteInterval(); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	d := NewDecider(nil, testBucket, testKey, nil)
	for _, version := range []string{testETag, `W/"x"`, "9a0364b9", `"a, b"`, "none"} {
		token, err := d.TokenFor(version)
		if err != nil || token.(*Token).String() != version || !token.CommitTS().IsZero() || !token.(*Token).StoreDate().IsZero() {
			t.Errorf("TokenFor(%s): %v, %v", version, token, err)
		}
	}
	if token, err := d.TokenFor("none"); err != nil || token.(*Token).ETag() != "" {
		t.Errorf("none: %v, %v", token, err)
	}
	for _, version := range []string{"", "*", " *", "a\r\nb", " x", strings.Repeat("x", 1025)} {
		if token, err := d.TokenFor(version); !errors.Is(err, core.ErrInvalidConfig) || token != nil {
			t.Errorf("TokenFor(%q): %v, %v", version, token, err)
		}
	}
}
