package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// A context that ends before there is a leadership: nil, at once, without callbacks.
func TestMemberWhoseContextEndsEarly(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			m := w.member("a", nil)
			m.config.Open = func(context.Context, string) (core.RaceDecider, error) {
				t.Error("opened")
				return nil, nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := w.elect(t, ctx, m).wait(); err != nil {
				t.Error(err)
			}
			m.wantStory(t, "")
		})
	})
	t.Run("while opening", func(t *testing.T) {
		for name, open := range map[string]func(context.Context, *member) (core.RaceDecider, error){
			"error": func(ctx context.Context, _ *member) (core.RaceDecider, error) {
				<-ctx.Done()
				if context.Cause(ctx) != errShutdown {
					t.Errorf("cause %v", context.Cause(ctx))
				}
				return nil, errors.New("rpc error: code = Canceled") // not every library wraps
			},
			"ignored": func(_ context.Context, m *member) (core.RaceDecider, error) {
				time.Sleep(term)
				return m.host.door, nil
			},
			"nothing": func(ctx context.Context, _ *member) (core.RaceDecider, error) {
				<-ctx.Done()
				return nil, nil
			},
		} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					m := w.member("a", nil)
					m.config.Open = func(ctx context.Context, _ string) (core.RaceDecider, error) { return open(ctx, m) }
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(time.Second, func() { cancel(errShutdown) })
					if err := w.elect(t, ctx, m).wait(); err != nil {
						t.Error(err)
					}
					m.wantStory(t, "")
					m.host.door.wantRequests(t, "an election that was not begun", 0, 0)
				})
			})
		}
	})
	t.Run("while campaigning", func(t *testing.T) {
		for name, f := range map[string]fault{"waiting": {}, "hanging": {kind: hang}, "failing": {kind: refuse}, "stuck": {kind: stuck, d: term}} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					w.store.Lead("b", time.Hour)
					m := w.member("a", nil)
					m.host.door.all(read, f)
					ctx, cancel := context.WithTimeout(t.Context(), 3*term)
					defer cancel()
					began := time.Now()
					e := w.elect(t, ctx, m)
					if err := e.wait(); err != nil {
						t.Error(err)
					}
					if took := e.at.Sub(began); took > 3*term+time.Second {
						t.Errorf("returned after %v", took)
					}
					m.wantStory(t, "")
				})
			})
		}
	})
}

// The context ends at every instant around the win: either nothing was led, or the
// callbacks come as a pair; nothing is left in the store.
func TestMemberWhoseContextEndsWithTheWin(t *testing.T) {
	for name, f := range map[string]fault{
		"answered": {}, "slow": {kind: slowBack, d: time.Second}, "lost": {kind: lose}, "hanging": {kind: hangAfter},
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, after the write %v", name, after), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					m := w.member("a", nil)
					m.host.door.then(write, f)
					ctx, cancel := context.WithCancel(t.Context())
					m.config.Open = func(context.Context, string) (core.RaceDecider, error) {
						return &ending{m.host.door, cancel, after}, nil
					}
					if err := w.elect(t, ctx, m).wait(); err != nil {
						t.Error(err)
					}
					if got := m.heard(); got != "" && got != "started stopped" {
						t.Errorf("heard %q", got)
					}
					time.Sleep(term / 2)
					if s, ok := w.store.Stored(); ok && !s.Vacant() {
						t.Errorf("left in the store: %+v", s)
					}
				})
			})
		}
	}
	bubble(t, func(t *testing.T, w *world) { // while OnStartedLeading is being called
		m := w.member("a", nil)
		ctx, cancel := context.WithCancel(t.Context())
		m.work = func(ctx context.Context) {
			cancel()
			synctest.Wait()
			if ctx.Err() == nil {
				t.Error("the work's context lasts")
			}
		}
		if err := w.elect(t, ctx, m).wait(); err != nil || !w.stored(t).Vacant() {
			t.Errorf("%v, stored %+v", err, w.stored(t))
		}
		m.wantStory(t, "started stopped")
	})
}

// ending ends a context just before a write, or just after it.
type ending struct {
	core.RaceDecider
	end   func()
	after bool
}

func (d *ending) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if d.after {
		defer d.end()
	} else {
		d.end()
	}
	return d.RaceDecider.WriteEntry(ctx, e)
}
