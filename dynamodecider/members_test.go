package dynamodecider

import (
	"context"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
)

// TestMembers: two hundred elections by name over one table and one client.
func TestMembers(t *testing.T) {
	s := newEmulator(t)
	client := s.Client(wrap(s.way(t, nil)))
	decidertest.RunMembers(t, func(_ context.Context, name string) (core.RaceDecider, error) {
		return NewDecider(client, testTable, name, nil), nil
	})
}
