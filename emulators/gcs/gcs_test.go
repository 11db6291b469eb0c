package gcs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"go.uber.org/goleak"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// What runs already was started by the init of a dependency of the SDK
// (go.opencensus.io/stats/view), not by a test.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

func start(t *testing.T, opts *gcs.Options) *gcs.Server {
	t.Helper()
	server, err := gcs.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func client(t *testing.T, opts ...option.ClientOption) *storage.Client {
	t.Helper()
	c, err := storage.NewClient(context.Background(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	c.SetRetry(storage.WithPolicy(storage.RetryNever))
	t.Cleanup(func() { c.Close() })
	return c
}

func write(ctx context.Context, object *storage.ObjectHandle, content string) (int64, error) {
	w := object.NewWriter(ctx)
	w.ChunkSize = 0
	if _, err := io.WriteString(w, content); err != nil {
		w.Close()
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return w.Attrs().Generation, nil
}

func read(ctx context.Context, object *storage.ObjectHandle) (string, int64, error) {
	r, err := object.NewReader(ctx)
	if err != nil {
		return "", 0, err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	return string(content), r.Attrs.Generation, err
}

// Every way a Go program is pointed at an emulator must be able to write, and to read
// through both APIs.
func TestClientsReadAndWrite(t *testing.T) {
	ctx := context.Background()
	server := start(t, &gcs.Options{Buckets: []string{"elections"}})
	byOption := []option.ClientOption{option.WithEndpoint(server.ClientEndpoint()), option.WithoutAuthentication()}
	for _, test := range []struct {
		name string
		env  string
		opts []option.ClientOption
	}{
		{"endpoint, XML reads", "", byOption},
		{"endpoint, JSON reads", "", append(byOption, storage.WithJSONReads())},
		{"environment, XML reads", server.Endpoint(), nil},
		{"environment, JSON reads", server.Endpoint(), []option.ClientOption{storage.WithJSONReads()}},
		{"environment with scheme", server.URL(), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("STORAGE_EMULATOR_HOST", test.env)
			object := client(t, test.opts...).Bucket("elections").Object("a name/with slash, " + test.name)
			generation, err := write(ctx, object.If(storage.Conditions{DoesNotExist: true}), "content")
			if err != nil {
				t.Fatal(err)
			}
			content, got, err := read(ctx, object)
			if err != nil || content != "content" || got != generation {
				t.Errorf("read %q of generation %d, %v; want what was written, of generation %d", content, got, err, generation)
			}
			planted, got, err := server.Contents("elections", object.ObjectName())
			if err != nil || string(planted) != "content" || got != generation {
				t.Errorf("Contents: %q, %d, %v", planted, got, err)
			}
		})
	}
}

func TestPlantContentsDelete(t *testing.T) {
	server := start(t, &gcs.Options{Buckets: []string{"b"}})
	if _, _, err := server.Contents("b", "o"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Contents of nothing: %v", err)
	}
	if err := server.Plant("no-bucket", "o", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Plant without a bucket: %v", err)
	}
	var last int64
	for _, want := range []string{"one", "two", ""} {
		if err := server.Plant("b", "o", []byte(want)); err != nil {
			t.Fatal(err)
		}
		content, generation, err := server.Contents("b", "o")
		if err != nil || string(content) != want || generation <= last {
			t.Fatalf("Contents: %q, generation %d after %d, %v", content, generation, last, err)
		}
		last = generation
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

// The store's clock is on every answer, also on those that say no.
func TestAnswersCarryADate(t *testing.T) {
	server := start(t, &gcs.Options{Buckets: []string{"b"}})
	if err := server.Plant("b", "o", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/b/o", "/b/none", "/storage/v1/b/b/o/o", "/storage/v1/b/none/o/o"} {
		response, err := http.Get(server.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		date, err := http.ParseTime(response.Header.Get("Date"))
		if err != nil || time.Since(date) > time.Hour || time.Since(date) < -time.Hour {
			t.Errorf("%s: Date %q", path, response.Header.Get("Date"))
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestOnlyLoopback(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1", "nonsense"} {
		if server, err := gcs.Start(&gcs.Options{Addr: addr}); err == nil {
			server.Close()
			t.Errorf("listens on %q", addr)
		}
	}
	for _, addr := range []string{"", "127.0.0.1:0", "localhost:0"} {
		start(t, &gcs.Options{Addr: addr}).Close()
	}
	if _, err := gcs.Start(&gcs.Options{Buckets: []string{"a/b"}}); err == nil {
		t.Error("started with an impossible bucket")
	}
}

func TestCloseTwiceThenRefuses(t *testing.T) {
	server := start(t, nil)
	server.Close()
	server.Close()
	if _, err := http.Post(server.URL()+"/storage/v1/b", "application/json", bytes.NewReader(nil)); err == nil {
		t.Error("a closed server answers")
	}
}
