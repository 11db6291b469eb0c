package schedule_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// A trigger's mistake is an error before any request, and does not look like a slot
// that was left out.
func TestInvalidSlots(t *testing.T) {
	every := func(o schedule.EveryOptions) schedule.Slot { return schedule.Every(time.Hour, &o) }
	for name, c := range map[string]struct {
		slot schedule.Slot
		says string
	}{
		"an empty name":                {schedule.Named(""), "its name is empty"},
		"the zero time":                {schedule.At(time.Time{}), "the zero time"},
		"the zero time elsewhere":      {schedule.At(time.Time{}.In(time.FixedZone("", 3600))), "the zero time"},
		"a name that is not UTF-8":     {schedule.Named("caf\xe9"), "UTF-8"},
		"half a character":             {schedule.Named("café"[:4]), "UTF-8"},
		"an endless name":              {schedule.Named(strings.Repeat("x", 201)), "201 bytes"},
		"a year that JSON has not":     {schedule.At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), "10000"},
		"no period":                    {schedule.Every(0, nil), "period"},
		"an offset of a period":        {every(schedule.EveryOptions{Offset: time.Hour}), "Offset"},
		"an offset of a period before": {every(schedule.EveryOptions{Offset: -time.Hour}), "Offset"},
		"an offset without end":        {every(schedule.EveryOptions{Offset: -1 << 63}), "Offset"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				a := w.host("a", 0)
				if c.slot.IsZero() {
					t.Error("it counts as no slot at all")
				}
				_, err := a.Run(t.Context(), c.slot, w.takes(0))
				if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
				if s := c.slot.String(); s == "" || s == "none" {
					t.Errorf("it calls itself %q", s)
				}
				w.wantRequests(a, "an invalid slot", 0, 0)
				w.wantRuns(0)
			})
		})
	}
}

// A moment is one slot in whatever zone a trigger says it, with one name.
func TestZonesAreOneSlot(t *testing.T) {
	utc := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	first := schedule.At(utc)
	for _, zone := range []*time.Location{time.Local, time.FixedZone("UTC", 0), time.FixedZone("east", 5*3600+1800), time.FixedZone("west", -8*3600)} {
		got := schedule.At(utc.In(zone))
		if got != first || got.String() != "2026-03-01T03:00:00Z" {
			t.Errorf("in %v it is the slot %v", zone, got)
		}
	}
	parsed, err := schedule.Parse("2026-02-28T19:00:00-08:00")
	if err != nil || parsed != first {
		t.Errorf("parsed it is the slot %v, %v", parsed, err)
	}
	bubble(t, func(t *testing.T, w *world) {
		a, now := w.host("a", 0), time.Now()
		w.trigger(a, schedule.At(now), w.takes(0), schedule.Ran, nil)
		res := w.trigger(a, schedule.At(now.In(time.FixedZone("east", 3600))), w.takes(0), schedule.Done, nil)
		if res.Last != schedule.At(now) {
			t.Errorf("read back it is the slot %v, not %v", res.Last, schedule.At(now))
		}
	})
}

// Every may choose a slot that begins later than MaxAhead allows a trigger's own.
func TestEveryEarlierThanMaxAhead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.host("a", 0)
		slot := schedule.Every(time.Hour, &schedule.EveryOptions{Early: 10 * time.Minute})
		time.Sleep(52 * time.Minute)
		res := w.trigger(a, slot, w.takes(0), schedule.Ran, nil)
		if got := res.Slot.String(); got != "2000-01-01T01:00:00Z" {
			t.Errorf("it ran the slot %s", got)
		}
		w.trigger(a, at(8*time.Minute+time.Second), w.takes(0), schedule.Unknown, schedule.ErrFutureSlot)
	})
}

// An election whose entry is not one is nobody's to wait for.
func TestBadEntryIsNotRunning(t *testing.T) {
	for _, wait := range []time.Duration{0, 20 * time.Second} {
		for _, down := range []bool{false, true} { // after it was seen
			bubble(t, func(t *testing.T, w *world) {
				w.store.PlantRaw([]byte("rubbish"))
				a := w.host("a", 0)
				a.Election.WaitAtMost = wait
				if down && wait > 0 {
					time.AfterFunc(time.Second, func() { a.door.set(func(d *door) { d.shut = errNet }) })
				}
				w.trigger(a, at(0), w.takes(0), schedule.Unknown, core.ErrBadEntry)
			})
		}
	}
}

// A store that never answers is no leader, however long one waits for it.
func TestStoreNeverReachedIsNotRunning(t *testing.T) {
	for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
		for _, wait := range []time.Duration{0, time.Millisecond, 20 * time.Second} {
			bubble(t, func(t *testing.T, w *world) {
				a := w.host("a", 0)
				a.OnFailure, a.Election.WaitAtMost = policy, wait
				a.door.set(func(d *door) { d.shut = errNet })
				res := w.trigger(a, at(0), w.takes(0), schedule.Unknown, errNet)
				if res.RetryAfter != 0 || res.Leader != "" {
					t.Errorf("WaitAtMost %v: %+v", wait, res)
				}
			})
		}
	}
}

// Somebody who leads is Running, although the store does not answer later on.
func TestLeaderSeenBeforeTheStoreWentDown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("b", time.Hour)
		a := w.host("a", 0)
		a.Election.WaitAtMost = 20 * time.Second
		time.AfterFunc(time.Second, func() { a.door.set(func(d *door) { d.shut = errNet }) })
		res := w.trigger(a, at(0), w.takes(0), schedule.Running, nil)
		if res.Leader != "b" || res.RetryAfter > 2*time.Hour {
			t.Errorf("%+v", res)
		}
	})
}

// What can serve no request says so, in every answer and once in the log.
func TestHandlerThatCanServeNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for says, make := range map[string]func(c schedule.Config) http.Handler{
			"no function that finds a request's slot": func(c schedule.Config) http.Handler { return c.Handler(nil, w.takes(0)) },
			"no work to run": func(c schedule.Config) http.Handler { return c.Handler(byHeader, nil) },
			"MaxAhead": func(c schedule.Config) http.Handler {
				c.MaxAhead = -1
				return c.Handler(byHeader, w.takes(0))
			},
		} {
			var log bytes.Buffer
			a := w.host("a", 0)
			a.Election.Logger = slog.New(slog.NewTextHandler(&log, nil))
			h := make(a.Config)
			for range 2 {
				r := httptest.NewRequest("POST", "/nightly", nil)
				r.Header.Set("X-CloudScheduler-ScheduleTime", time.Now().UTC().Format(time.RFC3339))
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, r)
				if rec.Code != 500 || !strings.Contains(rec.Body.String(), says) {
					t.Errorf("%d %q, want 500 and %q", rec.Code, rec.Body, says)
				}
			}
			if strings.Count(log.String(), says) != 1 || !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("the log is %q, want %q once", &log, says)
			}
		}
		w.wantRuns(0)
	})
}
