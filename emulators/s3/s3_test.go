package s3_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/emulators/s3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

func start(t *testing.T, opts *s3.Options) *s3.Server {
	t.Helper()
	server, err := s3.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func client(t *testing.T, server *s3.Server) *sdk.Client {
	t.Helper()
	own := &http.Transport{}
	t.Cleanup(own.CloseIdleConnections)
	return sdk.New(sdk.Options{
		BaseEndpoint: aws.String(server.URL()), UsePathStyle: true, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		HTTPClient:  &http.Client{Transport: own}, RetryMaxAttempts: 1,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	})
}

// when is the condition of a write: an ETag, "*" for "not there", "" for none.
func put(c *sdk.Client, key, when, content string) (etag string, err error) {
	in := &sdk.PutObjectInput{Bucket: aws.String("b"), Key: aws.String(key), Body: strings.NewReader(content)}
	switch when {
	case "":
	case "*":
		in.IfNoneMatch = aws.String("*")
	default:
		in.IfMatch = aws.String(when)
	}
	out, err := c.PutObject(context.Background(), in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// refusal is the status and the code of an error, "412 PreconditionFailed".
func refusal(err error) string {
	var response *awshttp.ResponseError
	var api smithy.APIError
	if !errors.As(err, &response) || !errors.As(err, &api) {
		return fmt.Sprint(err)
	}
	return fmt.Sprint(response.HTTPStatusCode(), " ", api.ErrorCode())
}

func TestConditions(t *testing.T) {
	server := start(t, &s3.Options{Buckets: []string{"b"}})
	c := client(t, server)
	const key = "a key/with slash, and + and %"
	if _, err := put(c, key, `"0123"`, "x"); refusal(err) != "404 NoSuchKey" {
		t.Errorf("If-Match on a missing key: %v", err)
	}
	first, err := put(c, key, "*", "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := put(c, key, "*", "two"); refusal(err) != "412 PreconditionFailed" {
		t.Errorf("a second creation: %v", err)
	}
	second, err := put(c, key, first, "two")
	if err != nil || second == first {
		t.Fatalf("overwriting %s: %s, %v", first, second, err)
	}
	if _, err := put(c, key, first, "three"); refusal(err) != "412 PreconditionFailed" {
		t.Errorf("a stale overwrite: %v", err)
	}
	content, etag, err := server.Contents("b", key)
	if err != nil || string(content) != "two" || etag != second {
		t.Errorf("Contents: %q, %s, %v; want two, %s", content, etag, err, second)
	}
	got, err := c.GetObject(context.Background(), &sdk.GetObjectInput{Bucket: aws.String("b"), Key: aws.String(key)})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if body, err := io.ReadAll(got.Body); err != nil || string(body) != "two" || aws.ToString(got.ETag) != second {
		t.Errorf("GetObject: %q, %s, %v", body, aws.ToString(got.ETag), err)
	}
	if _, err := c.GetObject(context.Background(), &sdk.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("none")}); refusal(err) != "404 NoSuchKey" {
		t.Errorf("a missing key: %v", err)
	}
	if _, err := c.GetObject(context.Background(), &sdk.GetObjectInput{Bucket: aws.String("none"), Key: aws.String(key)}); refusal(err) != "404 NoSuchBucket" {
		t.Errorf("a missing bucket: %v", err)
	}
}

// One winner per version: what a lease rests on.
func TestOneWinner(t *testing.T) {
	const writers, rounds = 16, 30
	server := start(t, &s3.Options{Buckets: []string{"b"}})
	c := client(t, server)
	when := "*"
	for round := range rounds {
		var (
			wg    sync.WaitGroup
			mu    sync.Mutex
			won   []string
			ready = make(chan struct{})
		)
		for n := range writers {
			wg.Go(func() {
				<-ready
				etag, err := put(c, "o", when, fmt.Sprint("round ", round, ", writer ", n))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won = append(won, etag)
				case refusal(err) != "412 PreconditionFailed":
					t.Errorf("writer %d: neither won nor lost: %v", n, err)
				}
			})
		}
		close(ready)
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("round %d: %d writers overwrote %s: %v", round, len(won), when, won)
		}
		when = won[0]
	}
}

// Equal content has an equal ETag: what fenced objects must live with.
func TestEqualContentHasAnEqualETag(t *testing.T) {
	c := client(t, start(t, &s3.Options{Buckets: []string{"b"}}))
	first, err := put(c, "o", "*", "same")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := put(c, "o", first, "same"); err != nil || again != first {
		t.Errorf("%s, then %s, %v", first, again, err)
	}
}

func TestPlantContentsDelete(t *testing.T) {
	server := start(t, &s3.Options{Buckets: []string{"b"}})
	if _, _, err := server.Contents("b", "o"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Contents of nothing: %v", err)
	}
	if err := server.Plant("no-bucket", "o", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Plant without a bucket: %v", err)
	}
	if err := server.Plant("b", "", nil); err == nil {
		t.Error("planted under an empty key")
	}
	for _, want := range []string{"one", "two", ""} {
		if err := server.Plant("b", "o", []byte(want)); err != nil {
			t.Fatal(err)
		}
		content, etag, err := server.Contents("b", "o")
		if err != nil || string(content) != want || !strings.HasPrefix(etag, `"`) {
			t.Fatalf("Contents: %q, %s, %v", content, etag, err)
		}
	}
	if keys, err := server.Keys("b", "o"); err != nil || len(keys) != 1 {
		t.Errorf("Keys: %v, %v", keys, err)
	}
	if err := server.Delete("b", "o"); err != nil {
		t.Fatal(err)
	}
	if err := server.Delete("b", "o"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("second Delete: %v", err)
	}
	if err := server.CreateBucket("b"); err != nil {
		t.Errorf("creating a bucket again: %v", err)
	}
	if err := server.CreateBucket(""); err == nil {
		t.Error("a bucket without a name was created")
	}
}

// A deleted object of a versioned bucket is missing like any other.
func TestDeleteMarker(t *testing.T) {
	server := start(t, &s3.Options{Buckets: []string{"b"}})
	c := client(t, server)
	if err := server.SetVersioning("b", true); err != nil {
		t.Fatal(err)
	}
	etag, err := put(c, "o", "*", "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Delete("b", "o"); err != nil {
		t.Fatal(err)
	}
	if _, err := put(c, "o", etag, "two"); refusal(err) != "404 NoSuchKey" {
		t.Errorf("overwriting a delete marker: %v", err)
	}
	if _, err := put(c, "o", "*", "two"); err != nil {
		t.Errorf("creating over a delete marker: %v", err)
	}
}

// The store's clock is on every answer, also on those that say no.
func TestAnswersCarryADate(t *testing.T) {
	server := start(t, &s3.Options{Buckets: []string{"b"}})
	if err := server.Plant("b", "o", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/b/o", "/b/none", "/none/o"} {
		response, err := http.Get(server.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		date, err := http.ParseTime(response.Header.Get("Date"))
		if err != nil || time.Since(date).Abs() > time.Hour {
			t.Errorf("%s: Date %q", path, response.Header.Get("Date"))
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestOnlyLoopback(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1", "nonsense"} {
		if server, err := s3.Start(&s3.Options{Addr: addr}); err == nil {
			server.Close()
			t.Errorf("listens on %q", addr)
		}
	}
	for _, addr := range []string{"", "127.0.0.1:0", "localhost:0"} {
		start(t, &s3.Options{Addr: addr}).Close()
	}
	if _, err := s3.Start(&s3.Options{Buckets: []string{"a/b"}}); err == nil {
		t.Error("started with an impossible bucket")
	}
}

func TestCloseTwiceThenRefuses(t *testing.T) {
	server := start(t, nil)
	server.Close()
	server.Close()
	if response, err := http.Get(server.URL() + "/b/o"); err == nil {
		response.Body.Close()
		t.Error("a closed server answers")
	}
}
