package httpleader_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/httpleader"
)

func TestOnlyTheLeaderServes(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.replica("a", time.Hour, httpleader.Options{}, says("from a"))
		b := w.replica("b", -time.Hour, httpleader.Options{}, says("from b"))
		want(t, "the leader", get(a), 200, "from a")
		rec := get(b)
		want(t, "the follower", rec, 503, `"host_port":["a:80"]`)
		retry, err := strconv.Atoi(rec.Header().Get("Retry-After"))
		if err != nil || retry < 1 || retry > 15 || rec.Header().Get(httpleader.LeaderHeader) != "a:80" ||
			rec.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("headers %v", rec.Header())
		}
		a.stop()
		time.Sleep(2 * poll)
		want(t, "the next leader", get(b), 200, "from b")
		want(t, "who has resigned", get(a), 503, "does not lead")
	})
}

func TestBeforeAnythingIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.FailNext(1, errNet)
		e, err := httpleader.New(core.Config{LeaderID: "a", Decider: w.store}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rec := get(e.Handler(says("no")))
		want(t, "before Run", rec, 503, "nobody else")
		if rec.Header().Get("Retry-After") != "3" || rec.Header().Get(httpleader.LeaderHeader) != "" {
			t.Errorf("headers %v", rec.Header())
		}
		if st := state(t, e); st.State != "unknown" || !st.Healthy || st.Leading {
			t.Errorf("state %+v", st)
		}
	})
}

func TestHideLeader(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.replica("a", 0, httpleader.Options{}, says("from a"))
		b := w.replica("b", 0, httpleader.Options{HideLeader: true, Forward: true}, says("from b"))
		want(t, "passed on", get(b), 200, "from a")
		delete(w.replicas, "a:80")
		rec := get(b)
		if rec.Code != 502 || strings.Contains(rec.Body.String(), "a:80") || rec.Header().Get(httpleader.LeaderHeader) != "" {
			t.Errorf("%d %s %v", rec.Code, rec.Body, rec.Header())
		}
	})
}

// A request's context ends with the reign, and the reign is given up only when
// the request is done.
func TestRequestsEndWithTheReign(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var cause error
		a := w.replica("a", 0, httpleader.Options{}, func(rw http.ResponseWriter, r *http.Request) {
			if l, ok := core.FromContext(r.Context()); !ok || l.Check() != nil {
				t.Error("the request does not know its leadership")
			}
			<-r.Context().Done()
			cause = context.Cause(r.Context())
			time.Sleep(time.Minute) // and takes its time
			if e, _ := w.store.Stored(); e.LeaderID != "a" {
				t.Error("it resigned before the request was done")
			}
		})
		var serving sync.WaitGroup
		serving.Go(func() { get(a) })
		synctest.Wait()
		a.stop()
		synctest.Wait()
		want(t, "a request after the end", get(a), 503, "does not lead")
		serving.Wait()
		if !errors.Is(cause, context.Canceled) {
			t.Errorf("the cause is %v", cause)
		}
		if err := <-a.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
	})
}

func TestRequestsEndWhenLeadershipIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var cause error
		a := w.replica("a", 0, httpleader.Options{}, func(rw http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			cause = context.Cause(r.Context())
		})
		var serving sync.WaitGroup
		serving.Go(func() { get(a) })
		synctest.Wait()
		w.store.Lead("operator", time.Minute)
		serving.Wait()
		if !errors.Is(cause, core.ErrLeadershipLost) {
			t.Errorf("the cause is %v", cause)
		}
		want(t, "after the loss", get(a), 503, "does not lead")
		time.Sleep(2 * poll)
		if st := state(t, a.Election); st.LeaderID != "operator" || st.State != "leading" || st.Leading {
			t.Errorf("state %+v", st)
		}
	})
}

// The client's own deadline still counts.
func TestTheClientMayLeave(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.replica("a", 0, httpleader.Options{}, func(rw http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		if st := state(t, a.Election); !st.Leading {
			t.Errorf("state %+v", st)
		}
	})
}

func TestPanicsAreTheServers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.replica("a", 0, httpleader.Options{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		func() {
			defer func() {
				if recover() != http.ErrAbortHandler {
					t.Error("the panic was swallowed")
				}
			}()
			get(a)
		}()
		a.stop()
		if err := <-a.ended; !errors.Is(err, context.Canceled) { // it is not waited for
			t.Error(err)
		}
	})
}

func TestForward(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opts := httpleader.Options{Forward: true}
		var got *http.Request
		a := w.replica("a", 0, opts, func(rw http.ResponseWriter, r *http.Request) { got = r; says("from a")(rw, r) })
		b := w.replica("b", 0, opts, says("from b"))
		want(t, "passed on", get(b), 200, "from a")
		if got.Host != "example.com" || got.URL.RequestURI() != "/path?q=1" || got.Header.Get("X-Forwarded-For") == "" || got.Header.Get("X-Forwarded-Proto") != "http" {
			t.Errorf("the leader saw %v %v %v", got.Host, got.URL, got.Header)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-For", "203.0.113.7")
		b.ServeHTTP(httptest.NewRecorder(), r)
		if got.Header.Get("X-Forwarded-Proto") != "https" || !strings.HasPrefix(got.Header.Get("X-Forwarded-For"), "203.0.113.7, ") {
			t.Errorf("the leader saw %v", got.Header)
		}

		a.stop()
		synctest.Wait()
		want(t, "to one that has resigned", get(b), 503, "another one has passed the request on")
		time.Sleep(2 * poll)
		want(t, "the next leader", get(b), 200, "from b")
		time.Sleep(2 * poll)
	})
}

// Whatever replicas believe of each other, no request goes round.
func TestNoLoops(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		opts := httpleader.Options{Forward: true}
		e := w.store.Lead("b", time.Hour)
		e.HostPort = []string{"b:80"}
		w.store.Plant(e)
		a := w.replica("a", 0, opts, says("no"))
		want(t, "b is not there", get(a), 502, "no such host")
		b := w.replica("b", 0, opts, says("no")) // bears the leader's name, and does not lead
		want(t, "b does not lead", get(a), 503, "another one has passed")
		if rec := get(b); rec.Code != 503 || strings.Contains(rec.Body.String(), "passed") {
			t.Errorf("to oneself: %d %s", rec.Code, rec.Body)
		}
	})
}

func TestForwardWithoutAnAddress(t *testing.T) {
	for _, address := range []string{"", "no port", ":80", "a:"} {
		bubble(t, func(t *testing.T, w *world) {
			e := w.store.Lead("other", time.Hour)
			if address != "" {
				e.HostPort = []string{address}
			}
			w.store.Plant(e)
			a := w.replica("a", 0, httpleader.Options{Forward: true}, says("no"))
			want(t, "an address that is none", get(a), 503, "address")
		})
	}
}

// A leader that hangs keeps nobody waiting once another one is seen.
func TestForwardedRequestEndsWhenTheLeaderChanges(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		e := w.store.Lead("frozen", time.Hour)
		e.HostPort = []string{"frozen:80"}
		w.store.Plant(e)
		b := w.replica("b", 0, httpleader.Options{Forward: true}, says("from b"))
		time.AfterFunc(time.Minute, func() { w.store.Lead("operator", time.Minute) })
		began := time.Now()
		want(t, "a request to a frozen leader", get(b), 502, "the leader has changed")
		if took := time.Since(began); took > time.Minute+2*poll {
			t.Errorf("it took %v", took)
		}
	})
}

func TestErrorsOfNew(t *testing.T) {
	good := core.Config{LeaderID: "a", Decider: memory.NewDecider()}
	for _, opts := range []httpleader.Options{
		{Scheme: "ftp"}, {LeaderStale: -1}, {FollowerStale: -1}, {Forward: true},
	} {
		if _, err := httpleader.New(good, &opts); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	good.HostPort = []string{"no-port"}
	if _, err := httpleader.New(good, &httpleader.Options{Forward: true}); !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), "no-port") {
		t.Error(err)
	}
	if _, err := httpleader.New(core.Config{}, nil); !errors.Is(err, core.ErrInvalidConfig) {
		t.Error(err)
	}
}
