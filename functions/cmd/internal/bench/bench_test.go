package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/s3"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/rig"
)

// pairs is how often each program runs; the median counts.
const pairs = 30

// BenchmarkStart runs lambda-worker and the bare functions in turn, each on an
// election of its own, from the start of the process to the answer of the write
// that wins.
func BenchmarkStart(b *testing.B) {
	for _, store := range []string{"dynamodb", "s3"} {
		b.Run(store, func(b *testing.B) {
			l := newLab(b, store)
			worker, bare := l.build(b, "functions/cmd/lambda-worker/"+store), l.build(b, "functions/cmd/internal/bench/"+store)
			l.run(b, worker, "warm/1", true)
			l.run(b, bare, "warm/2", true)
			round := 0
			for b.Loop() {
				round++
				var ours, theirs, alone []time.Duration
				for i := range pairs {
					ours = append(ours, l.run(b, worker, fmt.Sprintf("worker/%d/%d", round, i), true))
					theirs = append(theirs, l.run(b, bare, fmt.Sprintf("bare/%d/%d", round, i), true))
					alone = append(alone, l.run(b, bare, fmt.Sprintf("alone/%d/%d", round, i), false))
				}
				a, z := median(ours), median(theirs)
				b.ReportMetric(ms(a), "ms/worker")
				b.ReportMetric(ms(z), "ms/bare")
				b.ReportMetric(ms(median(alone)), "ms/bare-without-event")
				b.ReportMetric(float64(a)/float64(z), "ratio")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func median(d []time.Duration) time.Duration { slices.Sort(d); return d[len(d)/2] }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// lab is a store, behind a door that tells when the second request was answered,
// and a Runtime API with one event for whoever asks.
type lab struct {
	store, endpoint, api, dir string
	decided                   chan time.Time
	requests                  int
}

func newLab(b *testing.B, store string) *lab {
	l := &lab{store: store, dir: b.TempDir(), decided: make(chan time.Time, 1)}
	target := ""
	switch store {
	case "dynamodb":
		s, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		target = s.URL()
	default:
		s, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		target = s.URL()
	}
	u, err := url.Parse(target)
	if err != nil {
		b.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.ErrorLog = nil
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.requests++ // one process runs at a time, and asks one thing at a time until it has decided
		nth := l.requests
		proxy.ServeHTTP(w, r)
		if nth == 2 {
			l.decided <- time.Now()
		}
	}))
	b.Cleanup(door.Close)
	l.endpoint = door.URL
	asked := map[string]bool{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/next"):
			w.WriteHeader(http.StatusAccepted)
		case asked[r.RemoteAddr]: // the second event never comes
			<-r.Context().Done()
		default:
			asked[r.RemoteAddr] = true
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "bench")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
			fmt.Fprint(w, `{"time": "2026-03-01T03:00:00Z"}`)
		}
	}))
	b.Cleanup(api.CloseClientConnections)
	l.api = strings.TrimPrefix(api.URL, "http://")
	return l
}

func (l *lab) build(b *testing.B, pkg string) string {
	root, err := rig.Root(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	path, err := rig.Build(b.Context(), root, l.dir, pkg)
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// run starts the program and kills it once it has decided.
func (l *lab) run(b *testing.B, path, election string, event bool) time.Duration {
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	l.requests = 0
	cmd := exec.CommandContext(ctx, path)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = []string{"AWS_ENDPOINT_URL=" + l.endpoint, "AWS_REGION=local", "AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"STORE=" + l.store + "://elections/" + election, "ELECTION=" + election, "WORK_TIME=1m"}
	if event {
		cmd.Env = append(cmd.Env, "AWS_LAMBDA_RUNTIME_API="+l.api)
	}
	started := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	select {
	case at := <-l.decided:
		return at.Sub(started)
	case <-ctx.Done():
		b.Fatalf("%s does not decide; it printed %s", path, &out)
	}
	return 0
}
