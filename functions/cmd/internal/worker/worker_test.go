package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/netfault"
	"github.com/cloudelect/cloudelect/emulators/s3"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/dynamodbstore"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/s3store"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/worker"
)

// wire is what a store was asked, in the words of its IAM actions.
type wire struct {
	mu      sync.Mutex
	actions []string
}

func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.actions
	w.actions = nil
	return a
}

// front passes requests on to the store at target and notes them.
func (w *wire) front(t *testing.T, target string, actions func(*http.Request) []string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	transport := new(http.Transport)
	proxy.Transport = transport
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked := actions(r)
		proxy.ServeHTTP(rw, r)
		w.mu.Lock()
		w.actions = append(w.actions, asked...)
		w.mu.Unlock()
	}))
	t.Cleanup(func() {
		s.Close()
		transport.CloseIdleConnections()
	})
	return s.URL
}

// kind is a store with an emulator.
type kind struct {
	name, election string
	open           store.Open
	start          func(t *testing.T, w *wire)
	slotCost, dupe []string
}

func kinds() []kind {
	return []kind{{
		name: "dynamodb", election: "dynamodb://elections/nightly", open: dynamodbstore.Open,
		start: func(t *testing.T, w *wire) {
			s, err := dynamodb.Start(&dynamodb.Options{Tables: map[string]string{"elections": "election"}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", w.front(t, s.URL(), func(r *http.Request) []string {
				_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
				if op == "TransactWriteItems" {
					return []string{"dynamodb:ConditionCheckItem+UpdateItem"}
				}
				return []string{"dynamodb:" + op}
			}))
		},
		// A read, the win; the record; the resignation.
		slotCost: []string{"dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem+UpdateItem", "dynamodb:UpdateItem"},
		dupe:     []string{"dynamodb:GetItem"},
	}, {
		name: "s3", election: "s3://elections/nightly", open: s3store.Open,
		start: func(t *testing.T, w *wire) {
			s, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			t.Setenv("AWS_ENDPOINT_URL_S3", w.front(t, s.URL(), func(r *http.Request) []string {
				return []string{map[string]string{"GET": "s3:GetObject", "PUT": "s3:PutObject", "DELETE": "s3:DeleteObject"}[r.Method]}
			}))
		},
		// A read, the win; the journal read, and read, stored and pointed to; the resignation.
		slotCost: []string{"s3:GetObject", "s3:PutObject", "s3:GetObject", "s3:GetObject", "s3:PutObject", "s3:PutObject", "s3:PutObject"},
		dupe:     []string{"s3:GetObject"},
	}}
}

// each runs play for each store, with settings in the environment.
func each(t *testing.T, play func(t *testing.T, k kind, w *wire)) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			for _, kv := range os.Environ() {
				if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
					t.Setenv(name, "")
				}
			}
			for name, value := range map[string]string{
				"AWS_REGION": "local", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
				"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "STORE": k.election,
				"TERM_LENGTH": "1h", "MARGIN": "5m", // nothing is lost, repeated or renewed because this machine is slow
			} {
				t.Setenv(name, value)
			}
			w := new(wire)
			k.start(t, w)
			play(t, k, w)
		})
	}
}

// function is a new sandbox.
func function(t *testing.T, k kind, env ...string) *worker.Function {
	t.Helper()
	for i := 0; i < len(env); i += 2 {
		t.Setenv(env[i], env[i+1])
	}
	f, err := worker.New(t.Context(), os.Getenv, k.open)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func event(slot time.Time) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"id": "x", "time": %q}`, slot.UTC().Format(time.RFC3339)))
}

func slot(n int) time.Time {
	return time.Date(2026, 3, 1, 3, n, 0, 0, time.UTC)
}

// Every request is named: what the policies must grant, and what a slot costs.
func TestRequests(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		f := function(t, k)
		if got, err := f.Handle(t.Context(), event(slot(0))); err != nil || got.Outcome != "ran" {
			t.Fatalf("%+v, %v; want ran", got, err)
		}
		if got := w.take(); !slices.Equal(got, k.slotCost) {
			t.Errorf("a slot costs %q, want %q", got, k.slotCost)
		}
		for range 2 {
			if got, err := f.Handle(t.Context(), event(slot(0))); err != nil || got.Outcome != "done" {
				t.Errorf("a duplicate: %+v, %v; want done", got, err)
			}
			if got := w.take(); !slices.Equal(got, k.dupe) {
				t.Errorf("a duplicate costs %q, want %q", got, k.dupe)
			}
		}
		if got, err := f.Handle(t.Context(), event(slot(-1))); err != nil || got.Outcome != "stale" {
			t.Errorf("an older slot: %+v, %v; want stale", got, err)
		}
	})
}

// With MODE=lead a warm invocation costs no request for the election: only the work's.
func TestLead(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		f, other := function(t, k, "MODE", "lead"), function(t, k)
		for i := range 2 {
			got, err := f.Handle(request(t.Context(), fmt.Sprint("r", i)), json.RawMessage(`{}`))
			if err != nil || got.Outcome != "ran" {
				t.Fatalf("%+v, %v; want ran", got, err)
			}
			cold := w.take()
			if i == 1 && slices.Contains(cold, "dynamodb:UpdateItem") {
				t.Errorf("a warm invocation costs %q, want the record only", cold)
			}
		}
		if got, err := other.Handle(request(t.Context(), "r2"), json.RawMessage(`{}`)); err != nil || got.Outcome != "follower" || got.Leader == got.By {
			t.Errorf("another sandbox: %+v, %v; want follower", got, err)
		}
	})
}

// Two invocations at once in one process: of one slot one works, of two slots each
// is done once in the end.
func TestTwoAtOnce(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		f := function(t, k, "WORK_TIME", "50ms")
		replies := make([]worker.Reply, 4)
		var all sync.WaitGroup
		for i := range replies {
			all.Go(func() {
				var err error
				if replies[i], err = f.Handle(t.Context(), event(slot(0))); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		ran := 0
		for _, r := range replies {
			switch r.Outcome {
			case "ran":
				ran++
			case "running", "done":
			default:
				t.Errorf("%+v, want ran, running or done", r)
			}
		}
		if ran != 1 {
			t.Errorf("%d of %+v ran, want 1", ran, replies)
		}
	})
}

// The deadline is nearer than two margins: nothing is sent.
func TestNoTime(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		f := function(t, k)
		ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		_, err := f.Handle(ctx, event(slot(0)))
		if err == nil || !strings.Contains(err.Error(), "MARGIN") {
			t.Errorf("%v, want a word about MARGIN", err)
		}
		if got := w.take(); len(got) != 0 {
			t.Errorf("it sent %q, want nothing", got)
		}
	})
}

// The store is down: an error, never a skip, and no goroutine stays.
func TestStoreDown(t *testing.T) {
	each(t, func(t *testing.T, k kind, _ *wire) {
		for _, mode := range []string{"slot", "lead"} {
			t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1")
			t.Setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
			f := function(t, k, "MODE", mode, "TERM_LENGTH", "3s", "MARGIN", "500ms")
			before := goleak.IgnoreCurrent()
			ctx, cancel := context.WithTimeout(request(t.Context(), "r"), time.Minute)
			got, err := f.Handle(ctx, event(slot(0)))
			cancel()
			if err == nil || got.Outcome != "" {
				t.Errorf("MODE=%s: %+v, %v; want an error", mode, got, err)
			}
			if err := leaks(before); err != nil {
				t.Errorf("MODE=%s: %v", mode, err)
			}
		}
	})
}

// leaks looks for goroutines that stay. Connections that were given up end a little
// later, and on a busy machine later still, where goleak may also meet a stack
// that it cannot read, and panics.
func leaks(before goleak.Option) (err error) {
	find := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("goleak: %v", p)
			}
		}()
		return goleak.Find(before)
	}
	for began := time.Now(); time.Since(began) < time.Minute; {
		if err = find(); err == nil {
			return nil
		}
	}
	return err
}

// Settings: every fault at once, before anything is sent.
func TestSettings(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		for name, value := range map[string]string{"STORE": "gs://elections/x", "TERM_LENGTH": "a while", "MODE": "both", "FAIL_FOLLOWERS": "maybe", "MARGIN": "-1s", "ON_FAILURE": "?", "PERIOD": "1ms", "LOG": "loud"} {
			t.Setenv(name, value)
		}
		_, err := worker.New(t.Context(), os.Getenv, k.open)
		for _, name := range []string{"STORE", "TERM_LENGTH", "MODE", "FAIL_FOLLOWERS", "MARGIN", "ON_FAILURE", "PERIOD", "LOG"} {
			if err == nil || !strings.Contains(err.Error(), "settings: "+name+" is") {
				t.Errorf("%v, want a word about %s", err, name)
			}
		}
	})
}

// What would be ignored, or be taken for something else, is refused at the start.
func TestRefusedSettings(t *testing.T) {
	for _, c := range []struct{ name, value, more, says string }{
		{"TERM_LENGTH", "0", "", "TERM_LENGTH is 0s: write a time between 1s and 87600h0m0s, or leave it out for 15s"},
		{"MARGIN", "0", "", "MARGIN is 0s: write a time between 1ms and 7m0s, or leave it out for 500ms"},
		{"MARGIN", "5h", "", "MARGIN is 5h0m0s: write a time between 1ms and 7m0s"},
		{"PERIOD", "0", "", "PERIOD is 0s: write a time between 1s and 87600h0m0s, or leave it out to refuse events without a time"},
		{"WORK_TIME", "1h", "", "WORK_TIME is 1h0m0s: write a time between 0s and 15m0s"},
		{"PERIOD", "1h", "lead", "PERIOD is set, but MODE=lead knows no slots"},
		{"ON_FAILURE", "retry", "lead", "ON_FAILURE is set, but MODE=lead knows no slots"},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			getenv := func(name string) string {
				return map[string]string{"STORE": "dynamodb://elections/nightly", "MODE": c.more, c.name: c.value}[name]
			}
			_, err := worker.New(t.Context(), getenv, dynamodbstore.Open)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// Without a region nothing can be signed, and that is known at the start.
func TestNoRegion(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		t.Setenv("AWS_REGION", "")
		if _, err := worker.New(t.Context(), os.Getenv, k.open); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
			t.Errorf("%v, want a word about AWS_REGION", err)
		}
	})
}

// An event without a slot is refused, unless PERIOD gives it one.
func TestEventWithoutTime(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		f := function(t, k)
		if _, err := f.Handle(t.Context(), json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "aws.scheduler.scheduled-time") {
			t.Errorf("%v, want how to have a time in the event", err)
		}
		f = function(t, k, "PERIOD", "8760h")
		if got, err := f.Handle(t.Context(), json.RawMessage(`{}`)); err != nil || got.Outcome != "ran" {
			t.Errorf("%+v, %v; want ran", got, err)
		}
		if got, err := f.Handle(t.Context(), json.RawMessage(`{}`)); err != nil || got.Outcome != "done" {
			t.Errorf("%+v, %v; want done", got, err)
		}
		if _, err := f.Handle(t.Context(), json.RawMessage(`{"time": "soon"}`)); err == nil {
			t.Error("a time that cannot be read was taken for none")
		}
	})
}

// A failing follower is an error that the platform repeats.
func TestFailFollowers(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		f := function(t, k, "WORK_TIME", "15m")
		other := function(t, k, "FAIL_FOLLOWERS", "true", "WORK_TIME", "0s")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		done := make(chan error, 1)
		go func() {
			_, err := f.Handle(ctx, event(slot(0)))
			done <- err
		}()
		for won := false; !won; time.Sleep(time.Millisecond) {
			won = slices.ContainsFunc(w.take(), func(a string) bool { return strings.Contains(a, "Update") || strings.Contains(a, "Put") })
		}
		if _, err := other.Handle(t.Context(), event(slot(0))); err == nil || !strings.Contains(err.Error(), "lead") {
			t.Errorf("%v, want an error about the leader", err)
		}
		stop()
		if err := <-done; err == nil {
			t.Error("work that was broken off has succeeded")
		}
		if got, err := other.Handle(t.Context(), event(slot(0))); err != nil || got.Outcome != "ran" {
			t.Errorf("the platform repeats it: %+v, %v; want ran", got, err)
		}
	})
}

// PERIOD needs the store's clock, and whoever deploys can see to that.
func TestPeriodWithoutDate(t *testing.T) {
	each(t, func(t *testing.T, k kind, w *wire) {
		variable := "AWS_ENDPOINT_URL_" + strings.ToUpper(k.name)
		net, err := netfault.Listen(os.Getenv(variable), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer net.Close()
		if err := net.Inject(netfault.Fault{Kind: netfault.DropDate}); err != nil {
			t.Fatal(err)
		}
		f := function(t, k, variable, net.URL(), "PERIOD", "1h")
		if _, err := f.Handle(t.Context(), json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "let the event have a time") {
			t.Errorf("%v, want what to do", err)
		}
	})
}
