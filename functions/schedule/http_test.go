package schedule_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

func byHeader(r *http.Request) (schedule.Slot, error) { return schedule.CloudScheduler(r.Header) }

func TestHandler(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		post := func(slot string, work schedule.Work) *httptest.ResponseRecorder {
			r := httptest.NewRequest("POST", "/nightly", nil)
			r.Header.Set("X-CloudScheduler-ScheduleTime", slot)
			rec := httptest.NewRecorder()
			a.Handler(byHeader, work).ServeHTTP(rec, r)
			return rec
		}
		slot := time.Now().UTC().Format(time.RFC3339)
		want := func(what string, rec *httptest.ResponseRecorder, status int, body string) {
			t.Helper()
			if rec.Code != status || !strings.Contains(rec.Body.String(), body) {
				t.Errorf("%s: %d %q, want %d and %q", what, rec.Code, rec.Body, status, body)
			}
		}
		want("no slot", post("", w.takes(0)), 400, "X-CloudScheduler-ScheduleTime")
		want("a failure", post(slot, w.fails), 500, "the work failed")
		var first sync.WaitGroup
		first.Go(func() { want("the first", post(slot, w.takes(time.Second)), 200, "ran") })
		synctest.Wait()
		busy := post(slot, w.takes(0))
		want("a duplicate meanwhile", busy, 503, `"a" leads`)
		if s, err := strconv.Atoi(busy.Header().Get("Retry-After")); err != nil || s < 1 || s > 30 {
			t.Errorf("Retry-After is %q", busy.Header().Get("Retry-After"))
		}
		first.Wait()
		want("a late duplicate", post(slot, w.takes(0)), 200, "done before")
		a.door.set(func(d *door) { d.shut = errNet })
		want("a store that is down", post(slot, w.takes(0)), 500, "connection reset")
	})
}

// A duplicate is nothing to warn anybody of; a store that fails is.
func TestDuplicatesAreQuiet(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		var log bytes.Buffer
		a.Election.Logger = slog.New(slog.NewTextHandler(&log, nil)).With("job", "nightly").WithGroup("election")
		var refused []core.Event
		a.Election.OnEvent = func(e core.Event) {
			if e.Err != nil || e.Outcome == core.OutcomeBroken {
				refused = append(refused, e)
			}
		}
		slot := at(0)
		w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
		log.Reset()
		refused = nil
		w.trigger(a, slot, w.takes(0), schedule.Done, nil)
		if log.Len() > 0 || len(refused) > 0 {
			t.Errorf("a duplicate was logged: %s%v", &log, refused)
		}
		a.door.set(func(d *door) { d.shut = errNet })
		_, _ = a.Run(context.Background(), slot, w.takes(0))
		if !strings.Contains(log.String(), "connection reset") || len(refused) == 0 {
			t.Errorf("a failing store was not logged: %s", &log)
		}
	})
}
