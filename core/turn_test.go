package core

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/entry"
)

// asked is a decider that asks the test what to answer.
type asked struct {
	write func(context.Context, *entry.RaceEntry) (entry.LeaderToken, error)
	read  func(context.Context) (*entry.RaceEntry, error)
}

func (d asked) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	return d.write(ctx, e)
}
func (d asked) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) { return d.read(ctx) }

// turnOf plays one request of a candidate with a term of a minute: it may take 15 s.
func turnOf(ctx context.Context, kind moveKind, d RaceDecider) (t *turn, answered bool) {
	s := &settings{Config: Config{TermLength: time.Minute, Clock: clocks.DefaultClock(), Decider: d}}
	t = &turn{leg: new(leg).begin(), move: move{kind: kind, write: &entry.RaceEntry{Nonce: "n"}}}
	return t, t.request(ctx, s, 15*time.Second)
}

func TestTurnBringsTheAnswer(t *testing.T) {
	e, failed := otherLeads(), errors.New("503")
	read := asked{read: func(context.Context) (*entry.RaceEntry, error) { return &e, failed }}
	got, answered := turnOf(t.Context(), moveRead, read)
	if !answered || got.entry != &e || got.err != failed || got.token != nil {
		t.Errorf("a read: %v, %+v", answered, got)
	}
	write := asked{write: func(_ context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
		if e.Nonce != "n" {
			t.Errorf("wrote %+v", e)
		}
		return datedTok{noon}, nil
	}}
	got, answered = turnOf(t.Context(), moveWrite, write)
	if !answered || got.entry != nil || got.err != nil || got.token != (datedTok{noon}) {
		t.Errorf("a write: %v, %+v", answered, got)
	}
	if got.leg.last != nil {
		t.Error("an answered turn does not end its leg")
	}
}

// TestTurnIsGivenUp when its request takes too long or the campaign's context
// ends. The leg ends at that instant, and what the call says later is ignored,
// be it a token or the cause of the context, which is no answer of this store.
func TestTurnIsGivenUp(t *testing.T) {
	foreign := fmt.Errorf("another election: %w", ErrBroken)
	for _, tc := range []struct {
		name       string
		ends, want time.Duration
		listens    bool
		is         error
	}{
		{"too long, and deaf", time.Hour, 15 * time.Second, false, context.DeadlineExceeded},
		{"too long", time.Hour, 15 * time.Second, true, context.DeadlineExceeded},
		{"the context ends, and deaf", time.Second, time.Second, false, context.Canceled},
		{"the context ends", time.Second, time.Second, true, context.Canceled},
	} {
		for _, kind := range []moveKind{moveRead, moveWrite} {
			t.Run(fmt.Sprint(tc.name, kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					time.AfterFunc(tc.ends, func() { cancel(foreign) })
					hang := func(ctx context.Context) error {
						if tc.listens {
							<-ctx.Done()
							return context.Cause(ctx)
						}
						time.Sleep(time.Minute)
						return nil
					}
					d := asked{
						write: func(ctx context.Context, _ *entry.RaceEntry) (entry.LeaderToken, error) {
							return datedTok{noon}, hang(ctx)
						},
						read: func(ctx context.Context) (*entry.RaceEntry, error) { return noEntry(), hang(ctx) },
					}
					start := time.Now()
					s := &settings{Config: Config{TermLength: time.Minute, Clock: clocks.DefaultClock(), Decider: d}}
					turn := &turn{leg: new(leg).begin(), move: move{kind: kind, write: &entry.RaceEntry{}}}
					returned := make(chan bool, 1)
					go func() {
						answered := turn.request(ctx, s, 15*time.Second)
						if answered { // as play does, when the next move requests nothing
							turn.leg.end(turn)
						}
						returned <- answered
					}()
					turn.leg.wait()
					if d := time.Since(start); d != tc.want {
						t.Errorf("the leg ended after %v, want %v", d, tc.want)
					}
					if turn.leg.last != turn || !errors.Is(turn.err, tc.is) || errors.Is(turn.err, ErrBroken) {
						t.Errorf("given up with %v, want %v", turn.err, tc.is)
					}
					if answered := <-returned; answered && !tc.listens {
						t.Error("an answer that came after the leg's end counts")
					}
					if !tc.listens && (turn.token != nil || turn.entry != nil || turn.err == nil) {
						t.Errorf("the late answer changed what was noted: %+v", turn)
					}
				})
			})
		}
	}
}
