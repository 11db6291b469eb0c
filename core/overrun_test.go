package core_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// Work that goes on after it was told to stop for longer than the term lasts may have
// been done beside the next leader: that is no orderly end.
func TestWorkThatOutlastsItsTermIsTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration // to stop
		is    error
	}{
		{"in time", term / 2, nil},
		{"too late", 3 * term, core.ErrTermExpired},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				ctx, stop := context.WithCancel(t.Context())
				err := h.RunAsLeader(ctx, func(ctx context.Context, _ *core.Leadership) error {
					stop()
					<-ctx.Done()
					time.Sleep(c.takes)
					return nil
				})
				if !errors.Is(err, c.is) {
					t.Errorf("RunAsLeader: %v, want %v", err, c.is)
				}
			})
			bubble(t, func(t *testing.T, w *world) {
				h := w.host("a", nil)
				ctx, stop := context.WithCancel(t.Context())
				err := core.RunElection(ctx, &core.LeaderElectionConfig{
					Name: "n", MemberID: "a", LeaseDurationSeconds: int64(term / time.Second), Clock: h.Clock,
					Open: func(context.Context, string) (core.RaceDecider, error) { return h.door, nil },
					Callbacks: core.LeaderCallbacks{
						OnStartedLeading: func(ctx context.Context) {
							stop()
							<-ctx.Done()
							time.Sleep(c.takes)
						},
						OnStoppedLeading: func() {}, OnNewLeader: func(string) {},
					},
				})
				if !errors.Is(err, c.is) {
					t.Errorf("RunElection: %v, want %v", err, c.is)
				}
			})
		})
	}
}

// A shutdown does not last as long as a long lease when the store does not answer.
func TestMemberResignsWithinABound(t *testing.T) {
	for within, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 3 * time.Second: 3 * time.Second} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			ctx, stop := context.WithCancel(t.Context())
			var stopped time.Time
			err := core.RunElection(ctx, &core.LeaderElectionConfig{
				Name: "n", MemberID: "a", LeaseDurationSeconds: 3600, ResignWithin: within, Clock: h.Clock,
				Open: func(context.Context, string) (core.RaceDecider, error) { return h.door, nil },
				Callbacks: core.LeaderCallbacks{
					OnStartedLeading: func(context.Context) {
						h.door.all(read, fault{kind: refuse})
						h.door.all(write, fault{kind: refuse})
						stopped = time.Now()
						stop()
					},
					OnStoppedLeading: func() {}, OnNewLeader: func(string) {},
				},
			})
			if took := time.Since(stopped); !errors.Is(err, core.ErrNotResigned) || took > want+time.Second {
				t.Errorf("within %v: %v after %v", within, err, took)
			}
		})
	}
}
