package stores_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/s3"
)

// noAWS takes away what the environment says about AWS, and the files.
func noAWS(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "credentials"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// keys gives credentials that mean nothing, and a region.
func keys(t *testing.T) {
	t.Helper()
	noAWS(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	t.Setenv("AWS_REGION", "us-east-1")
}

func startS3(t *testing.T) *s3.Server {
	t.Helper()
	server, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func startDynamoDB(t *testing.T, tables map[string]string) *dynamodb.Server {
	t.Helper()
	server, err := dynamodb.Start(&dynamodb.Options{Tables: tables})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func open(t *testing.T, url string) *stores.Store {
	t.Helper()
	s, err := new(stores.Opener).Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// elect writes an entry, and reads it back as another client would.
func elect(t *testing.T, s *stores.Store) *entry.RaceEntry {
	t.Helper()
	e, err := s.Decider.ReadCurrent(t.Context())
	if err != nil || !e.Absent() {
		t.Fatalf("%s: before the first write: %+v, %v", s.URL, e, err)
	}
	next := entry.RaceEntry{LeaderID: "me", TermExpiry: time.Now().Add(time.Minute), TermLength: time.Minute,
		FencingToken: 1, Nonce: "n1", Token: e.Token}
	if _, err := s.Decider.WriteEntry(t.Context(), &next); err != nil {
		t.Fatalf("%s: %v", s.URL, err)
	}
	e, err = s.Decider.ReadCurrent(t.Context())
	if err != nil || e.LeaderID != "me" {
		t.Fatalf("%s: after it: %+v, %v", s.URL, e, err)
	}
	return e
}

// Where the service is, the URL and the environment can both say.
func TestS3(t *testing.T) {
	server := startS3(t)
	keys(t)
	bare := "s3://elections/a/b?endpoint=" + server.URL()
	if s := open(t, bare); s.URL != bare || s.Location.Region != "us-east-1" {
		t.Errorf("%q opened is %+v", bare, s)
	} else {
		elect(t, s)
	}
	if content, etag, err := server.Contents("elections", "a/b"); err != nil || !strings.Contains(string(content), `"me"`) {
		t.Errorf("stored: %s, %v", content, err)
	} else if tok, err := open(t, bare).TokenFor(etag); err != nil || tok == nil {
		t.Errorf("TokenFor(%s) = %v, %v", etag, tok, err)
	}
	if _, err := open(t, bare).TokenFor("*"); !errors.Is(err, core.ErrInvalidConfig) {
		t.Errorf("TokenFor(*): %v", err)
	}
	if err := open(t, bare).Prepare(t.Context()); !errors.Is(err, stores.ErrNothingToPrepare) {
		t.Errorf("Prepare: %v", err)
	}

	for name, value := range map[string]string{"AWS_ENDPOINT_URL_S3": "c", "AWS_ENDPOINT_URL": "d"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, server.URL())
			elect(t, open(t, "s3://elections/"+value))
		})
	}
	if err := read(t, "s3://missing/a?endpoint="+server.URL()); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a bucket that is missing: %v", err)
	}
}

func read(t *testing.T, url string) error {
	t.Helper()
	_, err := open(t, url).Decider.ReadCurrent(t.Context())
	return err
}

func TestDynamoDB(t *testing.T) {
	server := startDynamoDB(t, map[string]string{"other-key": "id"})
	keys(t)
	t.Setenv("AWS_REGION", "")
	url := func(table string) string {
		return "dynamodb://" + table + "/a/b?region=eu-central-1&endpoint=" + server.URL()
	}
	s := open(t, url("elections"))
	if err := read(t, s.URL); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "elect init") {
		t.Errorf("a table that is missing: %v", err)
	}
	for range 2 { // fine if it exists
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e := elect(t, s)
	if s.Location.Region != "eu-central-1" {
		t.Errorf("region %q", s.Location.Region)
	}
	if tok, err := s.TokenFor("nonce:" + e.Nonce); err != nil || tok == nil {
		t.Errorf("TokenFor: %v, %v", tok, err)
	}
	if _, err := s.TokenFor("12"); !errors.Is(err, core.ErrInvalidConfig) {
		t.Errorf("TokenFor(12): %v", err)
	}
	if err := open(t, url("other-key")).Prepare(t.Context()); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "id") {
		t.Errorf("a table with another key: %v", err)
	}

	// What is no entry has a version that can be compared, and nothing more.
	key := map[string]types.AttributeValue{"election": &types.AttributeValueMemberS{Value: "bad"}}
	if err := server.Plant("elections", key); err != nil {
		t.Fatal(err)
	}
	bad := open(t, "dynamodb://elections/bad?region=eu-central-1&endpoint="+server.URL())
	got, err := bad.Decider.ReadCurrent(t.Context())
	if !errors.Is(err, core.ErrBadEntry) {
		t.Fatalf("%+v, %v, want a bad entry", got, err)
	}
	if _, err := bad.TokenFor(got.Token.(interface{ String() string }).String()); !errors.Is(err, stores.ErrNoVersions) {
		t.Errorf("TokenFor: %v", err)
	}

	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", server.URL())
	if err := read(t, "dynamodb://elections/new?region=eu-central-1"); err != nil {
		t.Error(err)
	}
	// An ARN says in which region it is.
	if s := open(t, "dynamodb://arn:aws:dynamodb:eu-west-3:123456789012:table/elections/a"); s.Location.Region != "eu-west-3" {
		t.Errorf("region %q", s.Location.Region)
	}
}

// The set-up is found wrong before anything is sent, and the message says which
// setting it is.
func TestWrongSetUp(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		url  string
		says []string
	}{
		{"no region", map[string]string{"AWS_REGION": ""}, "s3://bkt/k", []string{"AWS_REGION", "s3://bkt/k?region="}},
		{"no region, DynamoDB", map[string]string{"AWS_REGION": ""}, "dynamodb://tab/k", []string{"AWS_REGION", "dynamodb://tab/k?region="}},
		{"no region, custom endpoint", map[string]string{"AWS_REGION": ""}, "s3://bkt/k?endpoint=http://h", []string{"AWS_REGION", "us-east-1", "s3://bkt/k?region=REGION&endpoint=http://h"}},
		{"region that is none of Amazon's", nil, "s3://bkt/k?region=frankfurt", []string{"frankfurt", "AWS_REGION", "eu-central-1"}},
		{"the same from the environment", map[string]string{"AWS_REGION": "eu_central_1"}, "dynamodb://tab/k", []string{"eu_central_1", "AWS_REGION"}},
		{"endpoint without a scheme", map[string]string{"AWS_ENDPOINT_URL_S3": "localhost:9000"}, "s3://bkt/k", []string{"AWS_ENDPOINT_URL_S3", "localhost:9000", "https://HOST"}},
		{"endpoint without a scheme, DynamoDB", map[string]string{"AWS_ENDPOINT_URL": "h"}, "dynamodb://tab/k", []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"}},
		{"endpoint with a password", map[string]string{"AWS_ENDPOINT_URL": "http://me:hidden@h"}, "s3://bkt/k", []string{"contains a user"}},
		{"no such profile", map[string]string{"AWS_PROFILE": "nope"}, "s3://bkt/k", []string{"nope", "AWS_PROFILE", "~/.aws/config"}},
		{"no credentials", map[string]string{"AWS_ACCESS_KEY_ID": ""}, "s3://bkt/k", []string{"no AWS credentials", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "role"}},
		{"no credentials, DynamoDB", map[string]string{"AWS_ACCESS_KEY_ID": ""}, "dynamodb://tab/k", []string{"no AWS credentials"}},
		{"no credentials for an emulator", map[string]string{"AWS_ACCESS_KEY_ID": ""}, "s3://bkt/k?endpoint=http://127.0.0.1:1", []string{"export AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}},
		{"no credentials for an emulator, by name", map[string]string{"AWS_ACCESS_KEY_ID": ""}, "dynamodb://tab/k?endpoint=http://localhost:1", []string{"export AWS_ACCESS_KEY_ID="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys(t)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			_, err := new(stores.Opener).Open(t.Context(), c.url)
			if err == nil || errors.Is(err, stores.ErrURL) || strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), "hidden") {
				t.Fatalf("%v, want one line about the set-up", err)
			}
			for _, says := range append(c.says, c.url) {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v\nwant it to say %q", err, says)
				}
			}
		})
	}
}

// Credentials of this machine's role are for Amazon: they are not even asked for
// when the store is on loopback.
func TestRolesAreNotForLoopback(t *testing.T) {
	asked := startS3(t) // in the metadata service's place; it would answer
	keys(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", asked.URL())
	_, err := new(stores.Opener).Open(t.Context(), "s3://bkt/k?endpoint=http://127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "for an emulator") {
		t.Errorf("%v", err)
	}
}

// Some stores want a pause between two writes to one key.
func TestWriteInterval(t *testing.T) {
	keys(t)
	for query, want := range map[string]time.Duration{"": 0, "&write-interval=1s": time.Second} {
		s := open(t, "s3://bkt/k?endpoint=http://127.0.0.1:1"+query)
		if got := s.Decider.(core.WriteLimiter).MinWriteInterval(); got != want {
			t.Errorf("%s: MinWriteInterval is %v, want %v", s.URL, got, want)
		}
	}
}

// Who ends elect while it looks for credentials has not got the set-up wrong.
func TestOpenWithAnEndedContext(t *testing.T) {
	keys(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := new(stores.Opener).Open(ctx, "s3://bkt/k")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Decider.ReadCurrent(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What the environment says about certificates holds for the store's own
// connections, and S3's redirects, which lead nowhere, are read and not followed.
func TestConnections(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/elsewhere/") {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-9")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
	}))
	defer server.Close()
	keys(t)
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(bundle, block, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	if err := read(t, "s3://here/k?endpoint="+server.URL); err != nil {
		t.Errorf("with the server's certificate in AWS_CA_BUNDLE: %v", err)
	}
	if err := read(t, "s3://elsewhere/k?endpoint="+server.URL); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "eu-west-9") {
		t.Errorf("a bucket in another region: %v", err)
	}
	t.Setenv("AWS_CA_BUNDLE", filepath.Join(t.TempDir(), "missing.pem"))
	if _, err := new(stores.Opener).Open(t.Context(), "s3://here/k?endpoint="+server.URL); err == nil || !strings.Contains(err.Error(), "AWS configuration") {
		t.Errorf("a bundle that is missing: %v", err)
	}
}
