package stores_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/skewclock"
	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// TestWrongClocks: on every kind of store, a candidate that has just started on a host
// whose clock is an hour or a day off takes an expired term at once and a running one
// never, and leads and renews; whether the clock of whoever crashed was right or not.
func TestWrongClocks(t *testing.T) {
	server, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	keys(t)
	t.Setenv("STORAGE_EMULATOR_HOST", server.Endpoint())
	const hour = time.Hour
	var all sync.WaitGroup
	for _, root := range []string{
		"gs://elections/%s", "s3://elections/%s?endpoint=" + startS3(t).URL(),
		"dynamodb://elections/%s?endpoint=" + startDynamoDB(t, map[string]string{"elections": "election"}).URL(),
	} {
		for i, c := range []struct{ crashed, fresh time.Duration }{
			{0, hour}, {0, -hour}, {hour, -hour}, {-hour, hour}, {hour, hour}, {0, 24 * hour}, {24 * hour, -24 * hour},
		} {
			w := wrong{url: fmt.Sprintf(root, fmt.Sprint("e", i)), crashed: c.crashed, fresh: c.fresh}
			all.Go(func() { // they wait, most of the time: all at once
				if err := w.test(t); err != nil {
					t.Errorf("%s, crashed ahead by %v, fresh by %v: %v", w.url, w.crashed, w.fresh, err)
				}
			})
		}
	}
	all.Wait()
}

type wrong struct {
	url            string
	crashed, fresh time.Duration // by how much whose clock is ahead
}

// crashedTerm is the term of a leader that never renews nor resigns.
const crashedTerm = 3 * time.Second

func (w wrong) test(t *testing.T) error {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	crashed, err := w.candidate(t, w.crashed)
	if err != nil {
		return err
	}
	crashed.LeaderID, crashed.TermLength, crashed.ManualRenew = "crashed", crashedTerm, true
	old, err := crashed.Campaign(ctx)
	if err != nil {
		return err
	}
	e := old.Entry()
	if e.SentBy.IsZero() {
		return fmt.Errorf("%+v was written without the store's time", e)
	}
	l, events, err := w.take(ctx, t, e)
	if err != nil {
		return err
	}
	if l.FencingToken() != e.FencingToken+1 {
		return fmt.Errorf("fencing tokens %d, then %d", e.FencingToken, l.FencingToken())
	}
	// It renews, and its term is as long as it should be.
	for range 2 {
		if _, err := next(ctx, events, core.EventRenewed); err != nil {
			return err
		}
	}
	if left := l.TimeLeft(); l.Check() != nil || left <= 0 || left > 30*time.Second {
		return fmt.Errorf("Check: %w, time left %v", l.Check(), left)
	}
	return l.Resign(ctx)
}

// candidate is one in a process that has just started, with a client of its own.
func (w wrong) candidate(t *testing.T, ahead time.Duration) (core.Config, error) {
	s, err := new(stores.Opener).Open(t.Context(), w.url)
	if err != nil {
		return core.Config{}, err
	}
	t.Cleanup(func() { _ = s.Close() })
	return core.Config{
		LeaderID: "fresh", Decider: s.Decider, TermLength: 30 * time.Second, RenewInterval: time.Second,
		Clock: skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: ahead}),
	}, nil
}

// take starts candidates that ask once, until one of them wins.
func (w wrong) take(ctx context.Context, t *testing.T, e entry.RaceEntry) (*core.Leadership, <-chan core.Event, error) {
	// The store's clock is this machine's. What a fresh candidate allows for is a
	// second between servers, and it sees whole seconds.
	over := e.SentBy.Add(e.TermLength)
	due := over.Add(e.TermLength/40 + time.Second)
	for {
		fresh, err := w.candidate(t, w.fresh)
		if err != nil {
			return nil, nil, err
		}
		events := make(chan core.Event, 1000)
		fresh.OnEvent = func(e core.Event) { events <- e }
		before := time.Now()
		l, err := fresh.TryAcquire(ctx)
		now := time.Now()
		var held *core.HeldError
		switch {
		case err == nil && now.Before(due):
			return nil, nil, fmt.Errorf("it took the term at %v, which is over at %v, and for certain at %v", now, over, due)
		case err == nil:
			won, err := next(ctx, events, core.EventElected)
			if err == nil && won.Proof != core.ProofStoreTime {
				err = fmt.Errorf("it won by the proof %v, want the store's time", won.Proof)
			}
			return l, events, err
		case errors.As(err, &held) && held.RetryAfter != math.MaxInt64 && before.After(due.Add(time.Second)):
			return nil, nil, fmt.Errorf("it did not take a term at %v that was over at %v: %w", before, over, err)
		case ctx.Err() != nil:
			return nil, nil, fmt.Errorf("never elected: %w", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// next waits for an event of a kind.
func next(ctx context.Context, events <-chan core.Event, kind core.EventKind) (core.Event, error) {
	for {
		select {
		case e := <-events:
			if e.Kind == kind {
				return e, nil
			}
		case <-ctx.Done():
			return core.Event{}, fmt.Errorf("in vain waited for the event %v", kind)
		}
	}
}
