package gocronleader_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/adapters/gocronleader"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

func refused(t *testing.T, what string, err error, says string) {
	t.Helper()
	if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, want %q", what, err, says)
	}
}

func TestElectorRefusesWhatHasNoMeaning(t *testing.T) {
	cfg := core.Config{LeaderID: "a", Decider: memory.NewDecider(), ManualRenew: true, WaitAtMost: time.Second}
	_, err := gocronleader.NewElector(cfg)
	if err == nil {
		t.Fatal("it was accepted")
	}
	refused(t, "ManualRenew", err, "nobody would renew")
	refused(t, "WaitAtMost", err, "WaitAtMost is 1s: it has no meaning here")
}

// A slot of one run is the same at every trigger.
func TestLockerRefusesASlotOfOneRun(t *testing.T) {
	for _, slot := range []schedule.Slot{schedule.Named("x"), schedule.At(time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC))} {
		_, err := gocronleader.NewLocker(gocronleader.LockerConfig{Election: core.Config{LeaderID: "a"}, Slot: slot,
			Decider: func(string) core.RaceDecider { return memory.NewDecider() }})
		if err == nil {
			t.Fatalf("%v was accepted", slot)
		}
		refused(t, slot.String(), err, "once in its life")
	}
}

// A nil context is refused before the work, and after it the slot is recorded.
func TestNilContext(t *testing.T) {
	var none context.Context
	store := memory.NewDecider()
	e, err := gocronleader.NewElector(core.Config{LeaderID: "a", Decider: store})
	if err != nil {
		t.Fatal(err)
	}
	bound, release := e.Bind(none)
	defer release()
	refused(t, "Bind", context.Cause(bound), "nil context")
	refused(t, "Run", e.Run(none), "context is nil")

	l, err := gocronleader.NewLocker(gocronleader.LockerConfig{Election: core.Config{LeaderID: "a"},
		Decider: func(string) core.RaceDecider { return store },
		Slot:    schedule.Every(24*time.Hour, &schedule.EveryOptions{HostClock: true})})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Lock(none, "job")
	refused(t, "Lock", err, "the context is nil")
	k, err := l.Lock(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Unlock(none); err != nil {
		t.Errorf("Unlock: %v", err)
	}
	if e, _ := store.Stored(); !e.Vacant() || len(e.Checkpoint) == 0 {
		t.Errorf("the slot is not recorded: %+v", e)
	}
}
