package runcmd

import (
	"context"
	"log/slog"
	"sync"

	"github.com/cloudelect/cloudelect/core"
)

// oncePerChange is a log in which content that is not an entry, which every poll finds
// again, has one line.
type oncePerChange struct {
	slog.Handler
	state *logged
}

type logged struct {
	mu  sync.Mutex
	bad string // the error of the last bad entry; "" after a change
}

// Handle passes on what is news.
func (h *oncePerChange) Handle(ctx context.Context, r slog.Record) error {
	if !h.state.news(r) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (s *logged) news(r slog.Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	event, said := "", "bad"
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "event":
			event = a.Value.String()
		case "error":
			said = a.Value.String()
		}
		return true
	})
	switch event {
	case core.EventRequest.String():
		return true // says nothing about what is stored
	case core.EventBadEntry.String():
	default:
		s.bad = ""
		return true
	}
	old := s.bad
	s.bad = said
	return said != old
}
