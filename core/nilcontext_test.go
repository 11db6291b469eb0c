package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// A nil context is a fault of the caller's, told as one: a panic would come in a
// goroutine where nobody can recover it.
func TestNilContextIsAnInvalidConfig(t *testing.T) {
	cfg := core.Config{
		LeaderID: "a", Decider: memory.NewDecider(),
		OnElected: func(context.Context, *core.TimeView) {},
	}
	member := &core.LeaderElectionConfig{
		Name: "n", MemberID: "a",
		Open: func(context.Context, string) (core.RaceDecider, error) { return memory.NewDecider(), nil },
		Callbacks: core.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}, OnNewLeader: func(string) {},
		},
	}
	var none context.Context
	for name, call := range map[string]func() error{
		"Campaign":   func() error { _, err := cfg.Campaign(none); return err },
		"TryAcquire": func() error { _, err := cfg.TryAcquire(none); return err },
		"Acquire":    func() error { return cfg.Acquire(none) },
		"RunAsLeader": func() error {
			return cfg.RunAsLeader(none, func(context.Context, *core.Leadership) error { return nil })
		},
		"RunElection": func() error { return core.RunElection(none, member) },
	} {
		if err := call(); !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), "context is nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
