package gcsdecider

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
)

// liveVar names a bucket of the real service (or of an emulator, by
// STORAGE_EMULATOR_HOST) in which the tests may create and delete objects.
const liveVar = "CLOUDELECT_LIVE_GCS_BUCKET"

// TestLiveConformance runs the suite against Cloud Storage. Lost answers and
// denials cannot be ordered there, so their cases are skipped.
func TestLiveConformance(t *testing.T) {
	bucket := os.Getenv(liveVar)
	if bucket == "" {
		t.Skipf("set %s to a bucket to run this against Cloud Storage", liveVar)
	}
	client, err := NewClient(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	decidertest.Run(t, decidertest.Harness{AllowSkips: true, New: func(t decidertest.TB) decidertest.Record {
		object := "cloudelect-test/" + rand.Text()
		handle := client.Bucket(bucket).Object(object)
		ctx := context.WithoutCancel(t.Context())
		t.Cleanup(func() {
			if err := handle.Delete(ctx); err != nil {
				t.Logf("left behind or never written: gs://%s/%s: %v", bucket, object, err)
			}
		})
		return decidertest.Record{
			Open: func() core.RaceDecider { return NewDecider(client, bucket, object, nil) },
			Plant: func(content []byte) error {
				time.Sleep(writeInterval) // the service's limit
				w := handle.NewWriter(ctx)
				if _, err := w.Write(content); err != nil {
					return err
				}
				return w.Close()
			},
			Delete: func() error {
				time.Sleep(writeInterval)
				return handle.Delete(ctx)
			},
		}
	}})
}
