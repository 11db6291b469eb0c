package httpleader_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
	"github.com/cloudelect/cloudelect/functions/httpleader"
)

const (
	term = 15 * time.Second
	poll = 3 * time.Second
)

var errNet = errors.New("connection reset by peer")

// world is a store, and replicas that reach each other by their addresses.
type world struct {
	t        *testing.T
	store    *memory.Decider
	replicas map[string]*replica // by address
	stops    []func()
	runs     sync.WaitGroup
}

func bubble(t *testing.T, play func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: memory.NewDecider(), replicas: map[string]*replica{}}
		w.store.SetClock(clocks.DefaultClock())
		defer w.runs.Wait()
		defer func() {
			for _, stop := range w.stops {
				stop()
			}
		}()
		play(t, w)
	})
	goleak.VerifyNone(t)
}

// replica is a process that serves.
type replica struct {
	*httpleader.Election
	name  string
	store *memory.Decider
	http.Handler
	stop  context.CancelFunc
	ended chan error
}

// replica starts one whose own work is work.
func (w *world) replica(name string, ahead time.Duration, opts httpleader.Options, work http.HandlerFunc) *replica {
	w.t.Helper()
	r := &replica{name: name, store: w.store.Handle(), ended: make(chan error, 1)}
	opts.Transport = w
	e, err := httpleader.New(core.Config{
		LeaderID: name, HostPort: []string{name + ":80"}, Decider: r.store, TermLength: term, PollInterval: poll,
		Clock: skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: ahead}),
	}, &opts)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Election, r.Handler = e, e.Handler(work)
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	w.stops = append(w.stops, stop)
	w.replicas[name+":80"] = r
	w.runs.Go(func() { r.ended <- e.Run(ctx) })
	synctest.Wait()
	return r
}

// RoundTrip carries requests between replicas without a network.
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	r := w.replicas[req.URL.Host]
	if req.URL.Host == "frozen:80" { // connected, and that is all
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if r == nil {
		return nil, fmt.Errorf("dial %s: no such host", req.URL.Host)
	}
	rec := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ServeHTTP(rec, req)
	}()
	select {
	case <-done:
		return rec.Result(), nil
	case <-req.Context().Done():
		<-done // this network waits for the server's goroutine
		return nil, req.Context().Err()
	}
}

// get asks a replica.
func get(h http.Handler) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "http://example.com/path?q=1", nil))
	return rec
}

// want checks an answer.
func want(t *testing.T, what string, rec *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if rec.Code != status || !strings.Contains(rec.Body.String(), body) {
		t.Errorf("%s: %d %q, want %d and %q", what, rec.Code, rec.Body, status, body)
	}
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, text) }
}

func state(t *testing.T, e *httpleader.Election) httpleader.State {
	t.Helper()
	synctest.Wait()
	var st httpleader.State
	rec := get(e.StateHandler())
	if err := json.Unmarshal(rec.Body.Bytes(), &st); err != nil || rec.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%v: %s", err, rec.Body)
	}
	return st
}

func handlerFunc(f func()) http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) { f() }
}
