package core_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// A context that ends with the reign is what work has at hand when it resigns. Its
// end is the first thing that resigning does, and must not cut the write.
func TestResignWithAContextOfTheReign(t *testing.T) {
	contexts := map[string]func(l *core.Leadership) (context.Context, context.CancelFunc){
		"context": func(l *core.Leadership) (context.Context, context.CancelFunc) { return l.Context(), func() {} },
		"bound":   func(l *core.Leadership) (context.Context, context.CancelFunc) { return l.Bind(context.Background()) },
		"below": func(l *core.Leadership) (context.Context, context.CancelFunc) {
			bound, release := l.Bind(context.Background())
			below, cancel := context.WithTimeout(bound, time.Second)
			return below, func() { cancel(); release() }
		},
	}
	for name, of := range contexts {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				for range 20 { // the end of a bound context races with the request
					h := w.host("ann", nil)
					l := h.lead(t)
					ctx, release := of(l)
					if err := l.ResignWith(ctx, []byte("slot 7")); err != nil {
						t.Errorf("ResignWith: %v", err)
					}
					release()
					if e := w.stored(t); !e.Vacant() || string(e.Checkpoint) != "slot 7" {
						t.Errorf("stored: %+v", e)
					}
				}
			})
		})
	}
}

// What the caller himself has bounded stays bounded.
func TestResignHonoursWhatWasBound(t *testing.T) {
	ways := map[string]func(l *core.Leadership) (context.Context, context.CancelFunc){
		"cancelled": func(l *core.Leadership) (context.Context, context.CancelFunc) {
			outer, cancel := context.WithCancel(context.Background())
			time.AfterFunc(time.Second, cancel)
			bound, release := l.Bind(outer)
			return bound, func() { release(); cancel() }
		},
		"deadline": func(l *core.Leadership) (context.Context, context.CancelFunc) {
			bound, release := l.Bind(context.Background())
			below, cancel := context.WithTimeout(bound, time.Second)
			return below, func() { cancel(); release() }
		},
	}
	for name, of := range ways {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("ann", nil)
				l := h.lead(t)
				h.door.all(write, fault{kind: hang})
				ctx, release := of(l)
				defer release()
				began := time.Now()
				if err := l.Resign(ctx); !errors.Is(err, core.ErrNotResigned) {
					t.Errorf("Resign: %v, want ErrNotResigned", err)
				}
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("Resign took %v, its context a second", took)
				}
				h.door.all(write, fault{})
			})
		})
	}
}
