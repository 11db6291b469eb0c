package core_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// TestLogOfALife: what a person reads of a candidate that waits, wins, renews, has
// a store that answers no more, loses its term, wins again and leaves. The log is
// in testdata; it is written there by this test when the file is not.
func TestLogOfALife(t *testing.T) {
	var out bytes.Buffer
	bubble(t, func(t *testing.T, w *world) {
		began := time.Now()
		first := w.host("worker-1", nil)
		l := first.win(t)
		h := w.host("worker-2", nil)
		h.OnEvent, h.RenewInterval = nil, 4*time.Second
		h.OnElected = func(context.Context, *core.TimeView) {}
		h.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug,
			ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Duration("at", a.Value.Time().Sub(began).Round(time.Millisecond))
				}
				return a
			}}))
		ctx, cancel := context.WithCancel(t.Context())
		w.run(func() { _ = h.Acquire(ctx) })
		time.Sleep(1500 * time.Millisecond)
		resign(t, l)
		time.Sleep(6 * time.Second)
		h.door.all(write, fault{kind: refuse})
		h.door.all(read, fault{kind: refuse})
		time.Sleep(15 * time.Second)
		h.door.all(write, fault{})
		h.door.all(read, fault{})
		time.Sleep(4 * time.Second)
		cancel()
		synctest.Wait()
	})
	golden := filepath.Join("testdata", "life.log")
	want, err := os.ReadFile(golden)
	if os.IsNotExist(err) {
		if err = os.WriteFile(golden, out.Bytes(), 0o644); err == nil {
			t.Fatalf("wrote %s: read it, and run the test again", golden)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the log has changed; remove core/%s to accept:\n%s", golden, out.String())
	}
}
