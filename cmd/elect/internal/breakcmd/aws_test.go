package breakcmd

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/s3"
)

// breakAWS runs the command on a store of AWS's, with credentials that mean nothing.
func breakAWS(t *testing.T, url string, args ...string) (string, error) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1", "AWS_PROFILE": "", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, value)
	}
	var out bytes.Buffer
	cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
	cmd.SetArgs(append([]string{"--store", url}, args...))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// advised is the version in what the command says about a bad entry, which must be
// a line that a shell can run.
func advised(t *testing.T, url string) string {
	t.Helper()
	_, err := breakAWS(t, url, "--fencing-token", "1")
	if cliutil.CodeOf(err) != statuscmd.ExitBadEntry {
		t.Fatalf("%v, want an error about a bad entry", err)
	}
	line := "elect break --store " + cliutil.ShellWord(url) + " --corrupt --version "
	_, version, ok := strings.Cut(err.Error(), line)
	if !ok {
		t.Fatalf("%v\nwant it to say %s", err, line)
	}
	return version
}

// On S3 a version is an ETag, whose quotes a shell takes away.
func TestCorruptObjectInS3(t *testing.T) {
	server, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	url := "s3://elections/x?endpoint=" + server.URL()
	for name, typed := range map[string]func(string) string{
		"as it is":           func(version string) string { return strings.Trim(version, "'") },
		"without its quotes": func(version string) string { return strings.Trim(version, `'"`) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := server.Plant("elections", "x", []byte("rubbish")); err != nil {
				t.Fatal(err)
			}
			version := advised(t, url)
			_, etag, err := server.Contents("elections", "x")
			if err != nil || version != "'"+etag+"'" {
				t.Fatalf("advised version %s, want the ETag %s in quotes (%v)", version, etag, err)
			}
			if _, err := breakAWS(t, url, "--corrupt", "--version", `"other"`); cliutil.CodeOf(err) != ExitChanged {
				t.Errorf("another version: %v, want a refusal", err)
			}
			if _, err := breakAWS(t, url, "--corrupt", "--version", "*"); cliutil.CodeOf(err) != cliutil.ExitUsage {
				t.Errorf("any version: %v, want a usage error", err)
			}
			if _, err := breakAWS(t, url, "--corrupt", "--version", typed(version)); err != nil {
				t.Fatal(err)
			}
			content, _, err := server.Contents("elections", "x")
			if err != nil {
				t.Fatal(err)
			}
			if e, err := entry.Decode(content); err != nil || !e.Held {
				t.Errorf("written %s (%v), want a held entry", content, err)
			}
		})
	}
}

// On DynamoDB what is no entry has a digest for a version.
func TestCorruptItem(t *testing.T) {
	server, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	key := map[string]types.AttributeValue{"election": &types.AttributeValueMemberS{Value: "x"}}
	if err := server.Plant("elections", key); err != nil {
		t.Fatal(err)
	}
	url := "dynamodb://elections/x?endpoint=" + server.URL()
	version := advised(t, url)
	if _, err := breakAWS(t, url, "--corrupt", "--version", "item:0"); cliutil.CodeOf(err) != ExitChanged {
		t.Errorf("another version: %v, want a refusal", err)
	}
	if _, err := breakAWS(t, url, "--corrupt", "--version", "12"); cliutil.CodeOf(err) != cliutil.ExitUsage {
		t.Errorf("no version of DynamoDB's: %v, want a usage error", err)
	}
	if item, err := server.Item("elections", key); err != nil || len(item) != 1 {
		t.Fatalf("after refusals the item is %v, %v", item, err)
	}
	if out, err := breakAWS(t, url, "--corrupt", "--version", version); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	item, err := server.Item("elections", key)
	if held, ok := item["held"].(*types.AttributeValueMemberBOOL); err != nil || !ok || !held.Value {
		t.Error(errors.Join(err, errors.New("want a held entry")), item)
	}
}
