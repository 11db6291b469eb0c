package decidertest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// RunMembers passes on stores that keep their word, and finds those that do not.
func TestRunMembers(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(name string, d *memory.Decider) (core.RaceDecider, error)
		says  string // "": nothing
	}{
		"memory": {func(_ string, d *memory.Decider) (core.RaceDecider, error) { return d, nil }, ""},
		"nobody is kept out": {func(string, *memory.Decider) (core.RaceDecider, error) { return memory.NewDecider(), nil },
			"2 lead at the same time"},
		"one cannot be opened": {func(name string, d *memory.Decider) (core.RaceDecider, error) {
			if name == "election-007" {
				return nil, errors.New("no such object")
			}
			return d, nil
		}, "no such object"},
		"one is broken": {func(name string, d *memory.Decider) (core.RaceDecider, error) {
			if name == "election-007" {
				d.FailNext(1<<30, core.ErrBroken)
			}
			return d, nil
		}, "election-007 is not vacant"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				stores := map[string]*memory.Decider{}
				w := &together{watched: watched{t: t}}
				done := make(chan struct{})
				go func() { // Fatalf ends a goroutine
					defer close(done)
					RunMembers(w, func(_ context.Context, name string) (core.RaceDecider, error) {
						mu.Lock()
						defer mu.Unlock()
						if stores[name] == nil {
							stores[name] = memory.NewDecider()
						}
						return tc.spoil(name, stores[name].Handle())
					})
				}()
				<-done
				said := strings.Join(w.complaints, "\n")
				if tc.says == "" && said != "" || !strings.Contains(said, tc.says) {
					t.Errorf("%.1000s\nwant %q", said, tc.says)
				}
			})
		})
	}
}

// together is a watched that many goroutines complain to.
type together struct {
	watched
	mu sync.Mutex
}

func (w *together) Errorf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched.Errorf(format, args...)
}
