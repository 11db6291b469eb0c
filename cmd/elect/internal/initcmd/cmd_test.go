package initcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/s3"
)

// world starts the three stores and points the environment at them.
func world(t *testing.T) *dynamodb.Server {
	t.Helper()
	objects, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(objects.Close)
	keys, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(keys.Close)
	tables, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"other-key": "id"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tables.Close)
	for name, value := range map[string]string{
		"STORAGE_EMULATOR_HOST": objects.Endpoint(), "AWS_ENDPOINT_URL_S3": keys.URL(), "AWS_ENDPOINT_URL_DYNAMODB": tables.URL(),
		"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1", "AWS_PROFILE": "", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
	return tables
}

// initialise runs the command.
func initialise(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestTable(t *testing.T) {
	tables := world(t)
	for range 2 { // the second time it exists
		out, err := initialise(t, "--store", "dynamodb://mine/a?region=eu-west-1")
		if err != nil || !strings.Contains(out, "table mine in region eu-west-1 is ready") || !strings.Contains(out, "--store 'dynamodb://mine/a?region=eu-west-1'") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if err := tables.DeleteTable("mine"); err != nil {
		t.Errorf("it was not created: %v", err)
	}
	if out, err := initialise(t, "--store", "dynamodb://mine/a", "--json"); err != nil || out != `{"store":"dynamodb://mine/a","ready":true,"table":"mine"}`+"\n" {
		t.Errorf("%v, printed %s", err, out)
	}
	_, err := initialise(t, "--store", "dynamodb://other-key/a")
	if cliutil.CodeOf(err) != cliutil.ExitBroken || !strings.Contains(err.Error(), `id (HASH)`) || !strings.Contains(err.Error(), `"election"`) {
		t.Errorf("a table with another key: %v", err)
	}
}

// Buckets are not created; it is said what they need, and whether they are there.
func TestBuckets(t *testing.T) {
	world(t)
	for url, says := range map[string]string{"gs://elections/a": "storage.objects.get", "s3://elections/a": "s3:PutObject"} {
		out, err := initialise(t, "--store", url)
		if err != nil || !strings.Contains(out, "nothing was created") || !strings.Contains(out, says) || !strings.Contains(out, "elect doctor --store "+url) {
			t.Errorf("%s: %v\n%s", url, err, out)
		}
	}
	if out, err := initialise(t, "--store", "s3://elections/a", "--json"); err != nil || out != `{"store":"s3://elections/a","ready":true}`+"\n" {
		t.Errorf("%v, printed %s", err, out)
	}
	for url, says := range map[string]string{
		"gs://missing/a": "gcloud storage buckets create gs://missing",
		"s3://missing/a": "aws s3 mb s3://missing --region us-east-1",
	} {
		if out, err := initialise(t, "--store", url); cliutil.CodeOf(err) != cliutil.ExitBroken || !strings.Contains(err.Error(), says) || out != "" {
			t.Errorf("%s: %v, printed %q", url, err, out)
		}
	}
}

func TestBadInput(t *testing.T) {
	world(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, cliutil.ExitUsage, "--store is missing"},
		{[]string{"now"}, cliutil.ExitUsage, "no arguments"},
		{[]string{"--store", "dynamodb://mine"}, cliutil.ExitUsage, "dynamodb://TABLE/ELECTION"},
		{[]string{"--store", "mem://x"}, cliutil.ExitUsage, "needs nothing"},
		{[]string{"--store", "dynamodb://mine/a", "--timeout", "0s"}, cliutil.ExitUsage, "--timeout"},
		{[]string{"--store", "dynamodb://mine/a?endpoint=http://127.0.0.1:1", "--timeout", "2s"}, cliutil.ExitUnavailable, "127.0.0.1:1"},
		{[]string{"--store", "s3://elections/a?endpoint=http://127.0.0.1:1", "--timeout", "2s"}, cliutil.ExitUnavailable, "s3://elections/a"},
	} {
		out, err := initialise(t, c.args...)
		if cliutil.CodeOf(err) != c.code || err == nil || !strings.Contains(err.Error(), c.says) || out != "" {
			t.Errorf("%q: code %d, error %v, printed %q; want %d and %q", c.args, cliutil.CodeOf(err), err, out, c.code, c.says)
		}
	}
}
