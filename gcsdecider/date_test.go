package gcsdecider

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// dated is an answer at a time of the store's clock.
func dated(at time.Time, next http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Date", at.UTC().Format(http.TimeFormat))
		next(rw, r)
	}
}

var storeTime = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

func TestStoreDate(t *testing.T) {
	cached := func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Age", "0")
		content("42", sampleBody(t))(rw, r)
	}
	undated := func(rw http.ResponseWriter, r *http.Request) {
		rw.Header()["Date"] = nil
		content("42", sampleBody(t))(rw, r)
	}
	for _, c := range []struct {
		name   string
		op     operation
		answer http.HandlerFunc
		want   time.Time
	}{
		{"read", read, dated(storeTime, content("42", sampleBody(t))), storeTime},
		{"read of nothing", read, dated(storeTime, refusal(404, "No such object: x")), storeTime},
		{"read of a bad entry", read, dated(storeTime, content("42", []byte("x"))), storeTime},
		{"create", create, dated(storeTime, stored(43, "2025-01-02T03:04:06Z")), storeTime},
		{"overwrite", overwrite, dated(storeTime, stored(43, "2025-01-02T03:04:06Z")), storeTime},
		{"out of a cache", read, dated(storeTime, cached), time.Time{}},
		{"no Date", read, undated, time.Time{}},
		{"a Date that is none", read, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Date", "yesterday")
			content("42", sampleBody(t))(rw, r)
		}, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := ask(newWire(t, c.answer).decider(t, nil), c.op)
			if e == nil {
				t.Fatal(err)
			}
			if got := e.Token.(core.DatedToken).StoreDate(); !got.Equal(c.want) {
				t.Errorf("date %v, want %v", got, c.want)
			}
		})
	}
}

// TestStoreDateOfAnotherClient: nobody notes it, and everything else works.
func TestStoreDateOfAnotherClient(t *testing.T) {
	w := newWire(t, dated(storeTime, content("42", sampleBody(t))))
	e, err := plainDecider(t, w).ReadCurrent(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Token.(core.DatedToken).StoreDate(); !got.IsZero() {
		t.Errorf("date %v out of nowhere", got)
	}
}

// TestStoreDateAfterRetry: the date is that of the answer that brought the
// entry, not of a failure before it.
func TestStoreDateAfterRetry(t *testing.T) {
	var mu sync.Mutex
	n := 0
	w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		first := n == 1
		mu.Unlock()
		if first {
			dated(storeTime.Add(-time.Hour), refusal(503, "no"))(rw, r)
			return
		}
		dated(storeTime, content("42", sampleBody(t)))(rw, r)
	})
	e, err := w.decider(t, nil).ReadCurrent(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Token.(core.DatedToken).StoreDate(); !got.Equal(storeTime) {
		t.Errorf("date %v", got)
	}
}

// TestStoreDateIsTheCallsOwn: calls through one client at the same time do not
// get each other's dates.
func TestStoreDateIsTheCallsOwn(t *testing.T) {
	w := newWire(t, func(rw http.ResponseWriter, r *http.Request) {
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "-")+1:]
		n, err := strconv.Atoi(name)
		if err != nil {
			t.Error(err)
		}
		dated(storeTime.Add(time.Duration(n)*time.Hour), content("42", sampleBody(t)))(rw, r)
	})
	client := newTestClient(t, w.options(t)...)
	var calls sync.WaitGroup
	for n := range 32 {
		calls.Go(func() {
			d := NewDecider(client, testBucket, fmt.Sprintf("election-%d", n), nil)
			e, err := d.ReadCurrent(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			if got, want := e.Token.(core.DatedToken).StoreDate(), storeTime.Add(time.Duration(n)*time.Hour); !got.Equal(want) {
				t.Errorf("election %d: date %v, want %v", n, got, want)
			}
		})
	}
	calls.Wait()
}
