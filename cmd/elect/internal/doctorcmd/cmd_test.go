package doctorcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"google.golang.org/api/option"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
	"github.com/cloudelect/cloudelect/dynamodecider"
	"github.com/cloudelect/cloudelect/emulators/badstore"
	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/emulators/s3"
	"github.com/cloudelect/cloudelect/gcsdecider"
	"github.com/cloudelect/cloudelect/s3decider"
)

const nightly = "nightly"

// kind is a kind of store: an emulator, and the decider that speaks to it.
type kind struct {
	dialect badstore.Dialect
	start   func() (root string, stop func(), err error)
	open    func(t *testing.T, root string, over *http.Client) core.RaceDecider
}

func kinds() []kind {
	creds := credentials.NewStaticCredentialsProvider("KEY", "secret", "")
	return []kind{
		{badstore.GCS, func() (string, func(), error) {
			server, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
			if err != nil {
				return "", nil, err
			}
			return server.URL(), server.Close, nil
		}, func(t *testing.T, root string, over *http.Client) core.RaceDecider {
			client, err := gcsdecider.NewClient(context.Background(), option.WithEndpoint(root+"/storage/v1/"),
				option.WithoutAuthentication(), option.WithHTTPClient(over))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			// No emulator wants a second between two writes.
			return gcsdecider.NewDecider(client, "elections", nightly, &gcsdecider.Options{MinWriteInterval: -1})
		}},
		{badstore.S3, func() (string, func(), error) {
			server, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
			if err != nil {
				return "", nil, err
			}
			return server.URL(), server.Close, nil
		}, func(_ *testing.T, root string, over *http.Client) core.RaceDecider {
			return s3decider.NewDecider(awss3.New(awss3.Options{BaseEndpoint: &root, UsePathStyle: true,
				Region: "eu-west-1", Credentials: creds, HTTPClient: over}), "elections", nightly, nil)
		}},
		{badstore.DynamoDB, func() (string, func(), error) {
			server, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
			if err != nil {
				return "", nil, err
			}
			return server.URL(), server.Close, nil
		}, func(_ *testing.T, root string, over *http.Client) core.RaceDecider {
			return dynamodecider.NewDecider(awsdynamodb.New(awsdynamodb.Options{BaseEndpoint: &root,
				Region: "eu-west-1", Credentials: creds, HTTPClient: over}), "elections", nightly, nil)
		}},
	}
}

// examine lets doctor look at a store of that kind with that mistake.
func examine(t *testing.T, k kind, m badstore.Mistake, asJSON bool) (stdout string, err error) {
	t.Helper()
	root, stop, err := k.start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	proxy, err := badstore.Listen(root, k.dialect, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)

	var out, errOut bytes.Buffer
	store := &stores.Store{URL: k.dialect.String() + "://" + nightly, Decider: k.open(t, proxy.URL(), &http.Client{Transport: transport})}
	err = Examine(t.Context(), &cliutil.Env{Stdout: &out, Stderr: &errOut}, store, asJSON)
	if errOut.Len() > 0 {
		t.Errorf("stderr: %s", errOut.String())
	}
	requests := proxy.Requests()
	for _, r := range requests {
		if !strings.HasPrefix(r.Key, nightly+".probe-") && (r.Key != nightly || r.Kind != badstore.Read) {
			t.Errorf("neither a scratch record, nor a read of the election: %+v", r)
		}
	}
	if len(requests) == 0 {
		t.Error("nothing was asked for")
	}
	return out.String(), err
}

func TestYesToTheEmulators(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.dialect.String(), func(t *testing.T) {
			t.Parallel()
			out, err := examine(t, k, badstore.None, false)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{
				`^\w+://nightly\n`, `\n  ok    permission to overwrite\n`, `\n  ok    of two racing overwrites exactly one wins \(\d+ rounds\)\n`,
				`\n  round trip   \S+ median, \S+ worst of ten reads\n`, `\n  clocks       this host and the store agree, to within \S+\n`,
				`\nverdict: yes, this store can carry elections\n$`,
			} {
				if !regexp.MustCompile(want).MatchString(out) {
					t.Errorf("no match for %q:\n%s", want, out)
				}
			}
			t.Log("\n" + out)
		})
	}
}

func TestNoToEveryBadStore(t *testing.T) {
	failed := map[badstore.Mistake]string{
		badstore.IgnoreCreate:    probe.CheckCreateTwice,
		badstore.IgnoreOverwrite: probe.CheckOldToken,
		badstore.KeepOld:         probe.CheckReadBack,
		badstore.DenyOverwrite:   probe.CheckOverwrite,
		badstore.CacheReads:      probe.CheckReadBack,
		badstore.RacersWin:       probe.CheckRacingCreations,
	}
	noVersion := map[badstore.Dialect]string{
		badstore.GCS: probe.CheckCreate, badstore.S3: probe.CheckCreate, badstore.DynamoDB: probe.CheckReadBack,
	}
	for _, k := range kinds() {
		for _, m := range badstore.Mistakes() {
			t.Run(k.dialect.String()+", "+m.String(), func(t *testing.T) {
				t.Parallel()
				check, mark := failed[m], "NO"
				if m == badstore.OmitVersion {
					check = noVersion[k.dialect]
					if k.dialect == badstore.GCS { // the answer may be somebody else's, and it asks for ten seconds
						mark = "?"
					}
				}
				out, err := examine(t, k, m, false)
				if cliutil.CodeOf(err) != cliutil.ExitFailed || cliutil.Message(err) != "" {
					t.Errorf("exit code %d, %q", cliutil.CodeOf(err), cliutil.Message(err))
				}
				lines := strings.Split(strings.TrimSpace(out), "\n")
				if last := lines[len(lines)-1]; !strings.HasPrefix(last, "verdict: no, ") || !strings.Contains(last, check) {
					t.Errorf("the verdict is %q, want one that names %q", last, check)
				}
				if !regexp.MustCompile(`\n  ` + regexp.QuoteMeta(mark) + ` +` + check + `\n {10}\S.*\n {10}-> \S`).MatchString(out) {
					t.Errorf("no explained failure of %q:\n%s", check, out)
				}
				t.Log("\n" + out)
			})
		}
	}
}

func TestJSON(t *testing.T) {
	k := kinds()[1]
	for m, usable := range map[badstore.Mistake]bool{badstore.None: true, badstore.DenyOverwrite: false} {
		out, err := examine(t, k, m, true)
		if code := cliutil.CodeOf(err); (code == 0) != usable || code > 1 {
			t.Errorf("%v: exit code %d", m, code)
		}
		var got struct {
			Store, Verdict string
			Usable         bool
			Checks         []core.ProbeCheck
			RoundTripNS    time.Duration `json:"round_trip_median_ns"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || strings.Count(out, "\n") != 1 {
			t.Fatalf("%v: %s", err, out)
		}
		if got.Usable != usable || strings.HasPrefix(got.Verdict, "yes, ") != usable || strings.HasPrefix(got.Verdict, "no, ") == usable || got.Store != "s3://nightly" || len(got.Checks) < 10 || got.RoundTripNS <= 0 {
			t.Errorf("%s", out)
		}
	}
}

// TestNothingWritten: stores say yes to the removal of what is not there; that proves
// no permission.
func TestNothingWritten(t *testing.T) {
	checks := func(created bool) *core.ProbeReport {
		return &core.ProbeReport{Checks: []core.ProbeCheck{{Name: probe.CheckCreate, Passed: created}, {Name: probe.CheckDelete, Optional: true, Passed: true, Detail: "gone"}}}
	}
	for _, created := range []bool{true, false} {
		r := checks(created)
		honest(r)
		out := finding{ProbeReport: *r}.text()
		if strings.Contains(out, "ok    "+probe.CheckDelete) != created {
			t.Errorf("created %v:\n%s", created, out)
		}
	}
}

// TestCommand: the whole way from a URL; and what cannot be probed.
func TestCommand(t *testing.T) {
	server, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	proxy, err := badstore.Listen(server.URL(), badstore.GCS, badstore.KeepOld)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", proxy.Endpoint())
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--store", "gs://elections/nightly"}, cliutil.ExitFailed, "verdict: no"},
		{[]string{"--store", "gs://no-such-bucket/nightly"}, cliutil.ExitBroken, "no-such-bucket"},
		{[]string{"--store", "gs://no-such-bucket/nightly", "--json"}, cliutil.ExitBroken, `"verdict":"no, this store must not be used`},
		{[]string{"--store", "mem://x"}, cliutil.ExitUsage, "cannot be probed"},
		{[]string{"--store", "gs://x"}, cliutil.ExitUsage, "gs://"},
		{nil, cliutil.ExitUsage, "--store"},
		{[]string{"more"}, cliutil.ExitUsage, "no arguments"},
	} {
		var out bytes.Buffer
		cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: new(stores.Opener)})
		cmd.SetArgs(append([]string{}, c.args...))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		if text := out.String() + cliutil.Message(err); cliutil.CodeOf(err) != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s", c.args, cliutil.CodeOf(err), c.code, c.says, text)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	cmd := New(&cliutil.Env{Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Stores: new(stores.Opener)})
	cmd.SetArgs([]string{"--store", "gs://elections/nightly"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(ended); cliutil.CodeOf(err) != cliutil.ExitSignal+2 {
		t.Errorf("interrupted: %v", err)
	}
}
