package emulatecmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core/entry"
)

// emulate runs the command until the test ends, and returns what it prints when it
// is ready: as many lines as are asked for.
func emulate(t *testing.T, lines int, args ...string) []string {
	t.Helper()
	r, w := io.Pipe()
	cmd := New(&cliutil.Env{Stdout: w, Stderr: io.Discard, Stores: new(stores.Opener)})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		w.CloseWithError(err)
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("emulate ended with %v, want nil", err)
		}
	})
	var out []string
	for sc := bufio.NewScanner(r); len(out) < lines && sc.Scan(); {
		out = append(out, sc.Text())
	}
	if len(out) < lines {
		t.Fatalf("it printed %q, want %d lines", out, lines)
	}
	return out
}

// obey does what the export lines say, after everything else about AWS is gone.
func obey(t *testing.T, lines []string) map[string]string {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, filepath.Join(t.TempDir(), "none"))
	}
	set := map[string]string{}
	for _, line := range lines {
		assignment, ok := strings.CutPrefix(line, "export ")
		if !ok {
			if !strings.HasPrefix(line, "# ") {
				t.Errorf("printed %q, which a shell would run", line)
			}
			continue
		}
		name, value, _ := strings.Cut(assignment, "=")
		t.Setenv(name, value)
		set[name] = value
	}
	return set
}

// What it prints is all that elect needs to use the emulators.
func TestElectionsOnWhatItPrints(t *testing.T) {
	out := emulate(t, 11, "--bucket", "one", "--bucket", "two", "--bucket", "one", "--table", "three")
	obey(t, out)
	if text := strings.Join(out, "\n"); !strings.Contains(text, "one, two") || !strings.Contains(text, "three") || !strings.Contains(text, "path-style") {
		t.Errorf("printed\n%s\nwant the names of the buckets and the table", text)
	}
	for _, url := range []string{"gs://one/x", "gs://two/x", "s3://one/x", "s3://two/x", "dynamodb://three/x"} {
		if e, err := read(t, url); err != nil || !e.Absent() {
			t.Errorf("%s = %+v, %v; want an empty election", url, e, err)
		}
	}
}

func read(t *testing.T, url string) (*entry.RaceEntry, error) {
	t.Helper()
	store, err := new(stores.Opener).Open(t.Context(), url)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return store.Decider.ReadCurrent(t.Context())
}

func TestOnly(t *testing.T) {
	for _, c := range []struct {
		only  string
		lines int
		set   []string
	}{
		{"gcs", 4, []string{"STORAGE_EMULATOR_HOST"}},
		{"s3", 7, []string{"AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_SECRET_ACCESS_KEY"}},
		{"dynamodb", 7, []string{"AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_REGION", "AWS_SECRET_ACCESS_KEY"}},
		{"s3,dynamodb", 9, []string{"AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_SECRET_ACCESS_KEY"}},
	} {
		t.Run(c.only, func(t *testing.T) {
			set := obey(t, emulate(t, c.lines, "--only", c.only))
			if got := slices.Sorted(maps.Keys(set)); !slices.Equal(got, c.set) {
				t.Errorf("it sets %q, want %q", got, c.set)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	parse := func(line string) map[string]any {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := parse(emulate(t, 1, "--json")[0])
	host, _ := got["storage_emulator_host"].(string)
	if !strings.HasPrefix(host, "127.0.0.1:") || got["url"] != "http://"+host {
		t.Errorf("printed %v, want where Cloud Storage is", got)
	}
	for _, name := range []string{"aws_endpoint_url_s3", "aws_endpoint_url_dynamodb"} {
		if url, _ := got[name].(string); !strings.HasPrefix(url, "http://127.0.0.1:") {
			t.Errorf("%s is %q", name, url)
		}
	}
	delete(got, "storage_emulator_host")
	delete(got, "url")
	delete(got, "aws_endpoint_url_s3")
	delete(got, "aws_endpoint_url_dynamodb")
	want := map[string]any{"s3_path_style": true, "aws_access_key_id": "emulator", "aws_secret_access_key": "emulator",
		"aws_region": "us-east-1", "buckets": []any{"elections"}, "tables": []any{"elections"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the rest is %v, want %v", got, want)
	}
	if got := parse(emulate(t, 1, "--json", "--only", "gcs")[0]); len(got) != 3 {
		t.Errorf("of Cloud Storage alone it prints %v, want storage_emulator_host, url and buckets", got)
	}
}

func TestPortsFollowEachOther(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:9199": "127.0.0.1:9200", "[::1]:1": "[::1]:2", "localhost:9199": "localhost:9200",
		"127.0.0.1:0": "127.0.0.1:0", "127.0.0.1": "127.0.0.1", "": "",
	} {
		if got := next(addr); got != want {
			t.Errorf("next(%q) = %q, want %q", addr, got, want)
		}
	}
}

// If one cannot start, none is left.
func TestAllOrNone(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	host, port, _ := net.SplitHostPort(taken.Addr().String())
	n, _ := strconv.Atoi(port)
	first := net.JoinHostPort(host, strconv.Itoa(n-1))
	free, err := net.Listen("tcp", first)
	if err != nil {
		t.Skipf("the port before an own one is somebody else's: %v", err)
	}
	free.Close()
	o := options{addr: first, only: kinds, buckets: []string{"elections"}, tables: []string{"elections"}}
	if _, err := start(t.Context(), o); cliutil.CodeOf(err) != cliutil.ExitInternal || !strings.Contains(err.Error(), port) {
		t.Fatalf("%v, want an error about port %s", err, port)
	}
	again, err := net.Listen("tcp", first)
	if err != nil {
		t.Fatalf("the first emulator still listens: %v", err)
	}
	again.Close()
}

func TestBadInput(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--addr", "0.0.0.0:0"}, cliutil.ExitUsage, "not a loopback address"},
		{[]string{"--addr", ":8080"}, cliutil.ExitUsage, "not a loopback address"},
		{[]string{"--addr", "example.com:80"}, cliutil.ExitUsage, "not a loopback address"},
		{[]string{"--addr", "0.0.0.0:0", "--only", "s3"}, cliutil.ExitUsage, "not a loopback address"},
		{[]string{"--addr", "[::]:0", "--only", "dynamodb"}, cliutil.ExitUsage, "not a loopback address"},
		{[]string{"--addr", "127.0.0.1"}, cliutil.ExitUsage, "host:port"},
		{[]string{"--addr", "127.0.0.1:99999"}, cliutil.ExitUsage, "--addr"},
		{[]string{"--addr", ""}, cliutil.ExitUsage, "empty"},
		{[]string{"--addr", taken.Addr().String()}, cliutil.ExitInternal, "another port"},
		{[]string{"--bucket", ""}, cliutil.ExitUsage, "--bucket"},
		{[]string{"--bucket", "a/b"}, cliutil.ExitUsage, "--bucket"},
		{[]string{"--bucket", "No"}, cliutil.ExitUsage, "--bucket"},
		{[]string{"--table", "a/b"}, cliutil.ExitUsage, "--table"},
		{[]string{"--table", "t"}, cliutil.ExitUsage, "--table"},
		{[]string{"--only", ""}, cliutil.ExitUsage, "--only"},
		{[]string{"--only", "gcs,azure"}, cliutil.ExitUsage, "gcs,s3,dynamodb"},
		{[]string{"--only", "dynamodb", "--bucket", "one"}, cliutil.ExitUsage, "--bucket needs"},
		{[]string{"--only", "gcs,s3", "--table", "one"}, cliutil.ExitUsage, "--table needs"},
		{[]string{"now"}, cliutil.ExitUsage, "no arguments"},
	} {
		var out bytes.Buffer
		cmd := New(&cliutil.Env{Stdout: &out, Stderr: os.Stderr, Stores: new(stores.Opener)})
		cmd.SetArgs(c.args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		if got := cliutil.CodeOf(err); got != c.code || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: code %d, error %v; want %d and %q", c.args, got, err, c.code, c.says)
		}
		if out.Len() > 0 {
			t.Errorf("%q printed %q", c.args, &out)
		}
	}
}
