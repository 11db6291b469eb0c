package s3decider

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
)

// liveVar names a bucket of S3, or of a store like it, in which the tests may create
// and delete objects. Region and credentials are the SDK's usual ones; endpointVar is
// the endpoint of another store, which is addressed in path style.
const (
	liveVar     = "CLOUDELECT_LIVE_S3_BUCKET"
	endpointVar = "CLOUDELECT_LIVE_S3_ENDPOINT"
)

func liveClient(t *testing.T) (client *s3.Client, bucket string) {
	t.Helper()
	bucket = os.Getenv(liveVar)
	if bucket == "" {
		t.Skipf("set %s to a bucket, and %s to an endpoint other than AWS's, to run this against a real store", liveVar, endpointVar)
	}
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	own := &http.Transport{Proxy: http.ProxyFromEnvironment}
	t.Cleanup(own.CloseIdleConnections)
	return s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.HTTPClient = &http.Client{Transport: own}
		if endpoint := os.Getenv(endpointVar); endpoint != "" {
			o.BaseEndpoint, o.UsePathStyle = aws.String(endpoint), true
		}
	}), bucket
}

// TestLiveConformance runs the suite against a real store. Lost answers and
// denials cannot be ordered there, so their cases are skipped.
func TestLiveConformance(t *testing.T) {
	client, bucket := liveClient(t)
	decidertest.Run(t, decidertest.Harness{AllowSkips: true, New: func(t decidertest.TB) decidertest.Record {
		key := "cloudelect-test/" + rand.Text()
		ctx := context.WithoutCancel(t.Context())
		remove := func() error {
			return erase(ctx, client, object{bucket, key}, "")
		}
		t.Cleanup(func() {
			if err := remove(); err != nil {
				t.Logf("left behind: s3://%s/%s: %v", bucket, key, err)
			}
		})
		return decidertest.Record{
			Open: func() core.RaceDecider { return NewDecider(client, bucket, key, nil) },
			Plant: func(content []byte) error {
				_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(content)}, gently)
				return err
			},
			Delete: remove,
		}
	}})
}

// TestLiveProbe says what Probe thinks of the store.
func TestLiveProbe(t *testing.T) {
	client, bucket := liveClient(t)
	report, err := NewDecider(client, bucket, "cloudelect-test/"+rand.Text(), nil).Probe(context.Background())
	if err != nil || !report.Usable {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestLiveFenced writes one fenced object, races included.
func TestLiveFenced(t *testing.T) {
	client, bucket := liveClient(t)
	ctx := context.Background()
	f := NewFencedObject(client, bucket, "cloudelect-test/"+rand.Text(), nil)
	t.Cleanup(func() {
		if p, err := f.pointer(ctx); err == nil && p.Nonce != "" {
			f.erase(ctx, p.Data, f.object.key)
		}
	})
	must(t, f.Write(ctx, 2, []byte("same")))
	checkStale(t, f.Write(ctx, 1, []byte("same")), 1, 2)
	must(t, f.Write(ctx, 3, []byte("same")))
	checkFenced(t, f, 3, "same")
}
