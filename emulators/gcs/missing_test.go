package gcs_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// What a decider sees of a missing object and of a missing bucket, through the client.
func TestMissingThroughTheClient(t *testing.T) {
	ctx := context.Background()
	server := start(t, &gcs.Options{Buckets: []string{"b"}})
	for _, reads := range []struct {
		name string
		opts []option.ClientOption
	}{{"XML", nil}, {"JSON", []option.ClientOption{storage.WithJSONReads()}}} {
		c := client(t, append(reads.opts, option.WithEndpoint(server.ClientEndpoint()), option.WithoutAuthentication())...)
		for _, bucket := range []string{"b", "none"} {
			_, _, err := read(ctx, c.Bucket(bucket).Object("o"))
			if !errors.Is(err, storage.ErrObjectNotExist) {
				t.Errorf("%s read in bucket %s: %v", reads.name, bucket, err)
			}
		}
		_, err := c.Bucket("none").Attrs(ctx)
		if !errors.Is(err, storage.ErrBucketNotExist) {
			t.Errorf("attributes of a missing bucket: %v", err)
		}
		_, err = write(ctx, c.Bucket("none").Object("o").If(storage.Conditions{DoesNotExist: true}), "x")
		var failed *googleapi.Error
		if !errors.As(err, &failed) || failed.Code != http.StatusNotFound || len(failed.Errors) != 1 ||
			failed.Errors[0].Reason != "notFound" || failed.Message != "The specified bucket does not exist." {
			t.Errorf("write into a missing bucket: %v", err)
		}
		_, err = write(ctx, c.Bucket("b").Object("o").If(storage.Conditions{GenerationMatch: 5}), "x")
		if !errors.As(err, &failed) || failed.Code != http.StatusPreconditionFailed || failed.Errors[0].Reason != "conditionNotMet" {
			t.Errorf("overwriting a missing object: %v", err)
		}
	}
}

// The same at the wire, in each of the service's dialects.
func TestMissingAtTheWire(t *testing.T) {
	server := start(t, &gcs.Options{Buckets: []string{"b"}})
	const noBucket = "The specified bucket does not exist."
	for _, test := range []struct{ method, path, format, want string }{
		{"GET", "/storage/v1/b/b/o/x%2Fy", "json", "No such object: b/x/y"},
		{"GET", "/storage/v1/b/none/o/x", "json", noBucket},
		{"DELETE", "/storage/v1/b/b/o/x", "json", "No such object: b/x"},
		{"GET", "/storage/v1/b/none", "json", noBucket},
		{"POST", "/upload/storage/v1/b/none/o?uploadType=media&name=x", "json", noBucket},
		{"GET", "/storage/v1/b/b/o/x?alt=media", "text", "No such object: b/x"},
		{"GET", "/b/x%2Fy", "xml", "<Code>NoSuchKey</Code><Message>No such object: b/x/y</Message>"},
		{"GET", "/none/x", "xml", "<Code>NoSuchBucket</Code><Message>" + noBucket + "</Message>"},
		{"HEAD", "/b/x", "none", ""},
	} {
		request, err := http.NewRequest(test.method, server.URL()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s: status %d, %v", test.method, test.path, response.StatusCode, err)
		}
		switch test.format {
		case "json":
			var answer struct {
				Error struct {
					Code    int
					Message string
					Errors  []struct{ Reason, Domain, Message string }
				}
			}
			if err := json.Unmarshal(body, &answer); err != nil || answer.Error.Code != 404 || answer.Error.Message != test.want ||
				len(answer.Error.Errors) != 1 || answer.Error.Errors[0].Reason != "notFound" {
				t.Errorf("%s %s: %s", test.method, test.path, body)
			}
		case "xml":
			if !strings.Contains(string(body), test.want) || !strings.Contains(response.Header.Get("Content-Type"), "xml") {
				t.Errorf("%s %s: %s", test.method, test.path, body)
			}
		default:
			if string(body) != test.want {
				t.Errorf("%s %s: %q", test.method, test.path, body)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
