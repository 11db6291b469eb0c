package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/adapters/health"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

const term = 10 * time.Second

// What k8s.io/apiserver and controller-runtime ask for.
var _ interface {
	Name() string
	Check(*http.Request) error
} = (*health.Health)(nil)

type candidate struct {
	*health.Health
	t     *testing.T
	store *memory.Decider
	cfg   core.Config
}

func newCandidate(t *testing.T, opts *health.Options) *candidate {
	t.Helper()
	if opts == nil {
		opts = &health.Options{Term: term}
	}
	h, err := health.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	c := &candidate{Health: h, t: t, store: memory.NewDecider()}
	c.cfg = core.Config{LeaderID: "a", Decider: c.store, TermLength: term, OnEvent: h.OnEvent,
		OnElected: func(context.Context, *core.TimeView) {}}
	return c
}

// acquire runs until the function that it returns is called.
func (c *candidate) acquire() (stop func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.cfg.Acquire(ctx)
	}()
	return func() { cancel(); <-ended }
}

// want compares both answers; "" means well.
func (c *candidate) want(when, ready, live string) {
	c.t.Helper()
	synctest.Wait()
	for _, x := range []struct {
		what string
		err  error
		says string
	}{{"Ready", c.Ready(), ready}, {"Live", c.Live(), live}, {"Check", c.Check(nil), live}} {
		if x.err != nil && x.says == "" || x.says != "" && (x.err == nil || !strings.Contains(x.err.Error(), x.says)) {
			c.t.Errorf("%s: %s says %v, want %q", when, x.what, x.err, x.says)
		}
	}
}

// The leader that renews is well; one that cannot is not ready while it still leads,
// nor afterwards; and an outage is no reason to restart.
func TestLeaderAndAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCandidate(t, nil)
		if c.want("at the start", "starting", ""); !errors.Is(c.Ready(), health.ErrStarting) {
			t.Error(c.Ready())
		}
		defer c.acquire()()
		for range 100 {
			time.Sleep(300 * time.Millisecond)
			c.want("leading", "", "")
		}
		c.store.FailNext(1<<30, nil)
		time.Sleep(4 * time.Second)
		c.want("one renewal is missing", "", "")
		time.Sleep(4 * time.Second)
		c.want("two are missing", "leading, and not renewed for", "")
		time.Sleep(4 * time.Second)
		c.want("the term is over", "", "")
		for range 100 {
			time.Sleep(time.Second)
			if synctest.Wait(); c.Live() != nil {
				t.Fatalf("an outage of the store: Live says %v", c.Live())
			}
		}
		c.want("a long outage", "not leading, and no answer from the store for", "")
		c.store.FailNext(0, nil)
		time.Sleep(3 * time.Second)
		c.want("the store is back", "", "")
	})
}

func TestFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCandidate(t, nil)
		leader := core.Config{LeaderID: "leader", Decider: c.store.Handle(), TermLength: term}
		l, err := leader.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.store.FailNext(1, errors.New("503"))
		stop := c.acquire()
		c.want("the first answer is an error", "starting: the store has not answered yet; the latest request: 503", "")
		for range 100 {
			time.Sleep(time.Second)
			c.want("following", "", "")
		}
		c.store.FailNext(1<<30, errors.New("503"))
		time.Sleep(term)
		c.want("silent for a term", "", "")
		time.Sleep(5 * time.Second)
		c.want("silent for longer", "no answer from the store for 1", "")
		c.store.FailNext(0, nil)
		time.Sleep(3 * time.Second)
		c.want("heard again", "", "")
		c.store.PlantRaw([]byte("not an entry"))
		time.Sleep(2 * term)
		c.want("blocked", "", "")
		stop()
		time.Sleep(2 * term)
		c.want("the campaign has returned", "no answer from the store", "the campaign hangs, or has returned")
		_ = l.Resign(t.Context())
	})
}

// With a PollInterval beyond the tolerance nothing is wrong between two reads.
func TestPollsThatAreFarApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCandidate(t, nil)
		c.cfg.PollInterval = 5 * time.Minute
		c.store.Handle().Lead("b", 24*time.Hour)
		defer c.acquire()()
		for range 200 {
			time.Sleep(10 * time.Second)
			c.want("following", "", "")
		}
		c.store.FailNext(1<<30, nil)
		for range 30 {
			time.Sleep(10 * time.Second)
			if synctest.Wait(); c.Live() != nil {
				t.Fatal(c.Live())
			}
		}
		time.Sleep(3 * time.Minute)
		c.want("an outage", "no answer", "")
	})
}

// A process that resigned and does something else needs no restart.
func TestAfterAResignation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCandidate(t, nil)
		l, err := c.cfg.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.want("leading", "", "")
		c.store.LoseNext(1) // so that the resignation is read back
		if err := l.Resign(t.Context()); err != nil {
			t.Error(err)
		}
		c.want("resigned", "", "")
		time.Sleep(time.Hour)
		c.want("an hour later", "no answer", "")
	})
}

// A reign that core did not end in time, as far as can be heard, is worth a restart.
func TestWatchdogThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCandidate(t, &health.Options{Tolerance: 3 * time.Second, RenewTolerance: 9 * time.Second})
		c.OnEvent(core.Event{Kind: core.EventElected, LeaderID: "a", Time: time.Now(),
			Entry: entry.RaceEntry{LeaderID: "a", FencingToken: 1, TermLength: term, TermExpiry: time.Now().Add(term)}})
		time.Sleep(9 * time.Second)
		c.want("within its tolerance", "", "")
		time.Sleep(4 * time.Second)
		c.want("just over", "not renewed for 13s of a term of 10s", "")
		time.Sleep(time.Second)
		c.want("over", "not renewed", "the term has been over for 4s")
	})
}

func TestHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCandidate(t, nil)
		get := func(h http.Handler, url, accept string) *httptest.ResponseRecorder {
			r, w := httptest.NewRequest(http.MethodGet, url, nil), httptest.NewRecorder()
			r.Header.Set("Accept", accept)
			h.ServeHTTP(w, r)
			if w.Header().Get("Cache-Control") != "no-store" {
				t.Error("the answer can be cached")
			}
			return w
		}
		state := func(w *httptest.ResponseRecorder) (s health.State) {
			if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%v: %s", err, w.Body)
			}
			return s
		}
		w := get(c.ReadyHandler(), "/", "")
		if w.Code != 503 || w.Body.String() != "starting: the store has not answered yet\n" {
			t.Errorf("starting: %d %q", w.Code, w.Body)
		}
		if w = get(c.LiveHandler(), "/", ""); w.Code != 200 || w.Body.String() != "ok: starting\n" {
			t.Errorf("starting: %d %q", w.Code, w.Body)
		}
		if s := state(get(c.LiveHandler(), "/?format=json", "")); s != (health.State{State: "starting", LastReadMS: -1, Live: true, Problem: health.ErrStarting.Error()}) {
			t.Errorf("starting: %+v", s)
		}
		defer c.acquire()()
		synctest.Wait()
		time.Sleep(time.Second)
		if w = get(c.ReadyHandler(), "/", "text/plain"); w.Code != 200 || w.Body.String() != "ok: leading\n" {
			t.Errorf("leading: %d %q", w.Code, w.Body)
		}
		if s := state(get(c.ReadyHandler(), "/", "application/json")); s != (health.State{Candidate: "a", Leading: true, State: "leading",
			FencingToken: 1, TermMS: 10000, TimeLeftMS: 9000, LastReadMS: 1000, Ready: true, Live: true}) {
			t.Errorf("leading: %+v", s)
		}
		c.store.FailNext(1<<30, errors.New("two\nlines"))
		time.Sleep(30 * time.Second)
		w = get(c.ReadyHandler(), "/", "")
		if w.Code != 503 || strings.Count(w.Body.String(), "\n") != 1 || !strings.Contains(w.Body.String(), "two; lines") {
			t.Errorf("outage: %d %q", w.Code, w.Body)
		}
		w = get(c.ReadyHandler(), "/?format=json", "")
		if s := state(w); w.Code != 503 || s.Ready || !s.Live || s.Problem == "" || s.Error != "two\nlines" || s.State != "following" {
			t.Errorf("outage: %d %+v", w.Code, s)
		}
	})
}

func TestBadInput(t *testing.T) {
	for _, opts := range []*health.Options{{Term: -1}, {Tolerance: -1}, {RenewTolerance: -1}} {
		if h, err := health.New(opts); h != nil || !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	for _, h := range []*health.Health{nil, {}} {
		h.OnEvent(core.Event{})
		if h.Live() != nil || !errors.Is(h.Ready(), health.ErrStarting) || h.Name() != "election" {
			t.Error("a Health that was not made by New")
		}
		w := httptest.NewRecorder()
		h.ReadyHandler().ServeHTTP(w, httptest.NewRequest("GET", "/?format=json", nil))
		if !strings.Contains(w.Body.String(), `"last_read_ms":-1`) {
			t.Errorf("a Health that has heard nothing says %s", w.Body)
		}
	}
	if _, err := health.New(nil); err != nil {
		t.Error(err)
	}
}
