package httpleader_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/httpleader"
)

// A second Run is refused, and the first one serves and stays healthy.
func TestRunOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.replica("a", 0, httpleader.Options{}, says("served"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Run(ctx); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("a second Run: %v", err)
		}
		for range 3 {
			want(t, "health", get(a.HealthHandler()), 200, "ok: leading")
			want(t, "work", get(a), 200, "served")
			time.Sleep(term)
		}
		a.stop()
		<-a.ended
		want(t, "ended", get(a.HealthHandler()), 503, "the election has ended")

		ctx, cancel = context.WithTimeout(t.Context(), 2*term)
		defer cancel()
		again := make(chan error, 1)
		go func() { again <- a.Run(ctx) }()
		time.Sleep(term)
		want(t, "run again", get(a.HealthHandler()), 200, "ok: leading")
		if err := <-again; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run after the end of the first: %v", err)
		}
	})
}

// No handler is said in every answer, and in the log once; nothing panics.
func TestHandlerOfNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var log bytes.Buffer
		e, err := httpleader.New(core.Config{LeaderID: "a", Decider: w.store.Handle(), TermLength: term,
			Logger: slog.New(slog.NewTextHandler(&log, nil))}, nil)
		if err != nil {
			t.Fatal(err)
		}
		nothing := []http.Handler{e.Handler(nil), e.Handler(http.HandlerFunc(nil))}
		if n := strings.Count(log.String(), "was given no handler"); n != 2 {
			t.Errorf("%d lines in the log: %s", n, &log)
		}
		check := func() {
			for _, h := range nothing {
				want(t, "no handler", get(h), 500, "was given no handler")
			}
		}
		check()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- e.Run(ctx) }()
		synctest.Wait()
		if !e.State().Leading {
			t.Error("it does not lead")
		}
		check()
		e.Lead(nil)()
		if !e.State().Leading {
			t.Error("Lead(nil) has ended the reign")
		}
		stop()
		<-ended
	})
}
