package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// RunAsLeader waits for its turn, works, and makes room for the next.
func ExampleConfig_RunAsLeader() {
	store := memory.NewDecider() // in production: gcsdecider.NewDecider
	for _, name := range []string{"ann", "bob"} {
		cfg := core.Config{LeaderID: name, Decider: store}
		err := cfg.RunAsLeader(context.Background(), func(ctx context.Context, l *core.Leadership) error {
			if err := l.Check(); err != nil { // right before what only a leader may do
				return err
			}
			fmt.Println(name, "leads by the proof", l.Proof(), "with fencing token", l.FencingToken())
			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// ann leads by the proof vacant with fencing token 1
	// bob leads by the proof vacant with fencing token 2
}

// TryAcquire does not wait. A worker that lives for seconds asks once.
func ExampleConfig_TryAcquire() {
	ctx := context.Background()
	store := memory.NewDecider()
	store.Lead("somebody else", time.Minute)

	cfg := core.Config{LeaderID: "ann", Decider: store}
	_, err := cfg.TryAcquire(ctx)
	var held *core.HeldError
	if errors.As(err, &held) {
		fmt.Println("led by", held.Current.LeaderID)
	}

	store.Lead("", time.Minute) // it resigns
	l, err := cfg.TryAcquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Resign(ctx)
	fmt.Println("elected")
	// Output:
	// led by somebody else
	// elected
}

// A checkpoint is a small state that one leader leaves for the next.
func ExampleLeadership_ResignWith() {
	ctx := context.Background()
	store := memory.NewDecider()

	first, err := core.Config{LeaderID: "ann", Decider: store}.Campaign(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := first.ResignWith(ctx, []byte("done up to line 700")); err != nil {
		fmt.Println(err)
	}

	second, err := core.Config{LeaderID: "bob", Decider: store}.Campaign(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer second.Resign(ctx)
	fmt.Printf("%s\n", second.Checkpoint())
	// Output: done up to line 700
}

// A watcher only reads. Updates is a loop over every version that it sees.
func ExampleWatchConfig_Updates() {
	store := memory.NewDecider()
	store.Lead("ann", time.Minute)

	watch := core.WatchConfig{Decider: store}
	for e, err := range watch.Updates(context.Background()) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(e.LeaderID, "leads")
		break
	}
	// Output: ann leads
}

// A test plays the rest of the world: here somebody takes the leadership away.
func Example_testYourOwnCode() {
	ctx := context.Background()
	store := memory.NewDecider()
	l, err := core.Config{LeaderID: "ann", Decider: store}.Campaign(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Resign(ctx)

	store.Lead("bob", time.Minute) // as if ann had been slow
	err = l.Renew(ctx)
	fmt.Println("lost:", errors.Is(err, core.ErrLeadershipLost))
	<-l.Context().Done() // what your code has to react to
	fmt.Println("cause:", errors.Is(context.Cause(l.Context()), core.ErrLeadershipLost))
	// Output:
	// lost: true
	// cause: true
}

// Acquire campaigns again and again, with callbacks, until its context ends.
func ExampleConfig_Acquire() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := core.Config{
		LeaderID: "ann",
		HostPort: []string{"192.0.2.1:7000"},
		Decider:  memory.NewDecider(),
		OnElected: func(ctx context.Context, expirationTime *core.TimeView) {
			fmt.Println("elected, term in the future:", expirationTime.ValueInFuture())
			cancel() // the process is asked to end
			<-ctx.Done()
		},
		OnOusting: func(context.Context) { fmt.Println("ousted") },
		LeaderChanged: func(_ context.Context, e entry.RaceEntry) {
			// also called for others, and with a vacant entry
		},
	}.Acquire(ctx)
	fmt.Println(err)
	// Output:
	// elected, term in the future: true
	// ousted
	// context canceled
}

// RunElection is for who knows client-go's LeaderElector: three callbacks, and one
// call that returns when this member does not lead any more, or shall not.
func ExampleRunElection() {
	store := memory.NewDecider() // in production: one client for all elections
	ctx, stop := context.WithCancel(context.Background())
	err := core.RunElection(ctx, &core.LeaderElectionConfig{
		Name:     "nightly",
		MemberID: "ann",
		HostPort: []string{"192.0.2.1:7000"},
		Open: func(ctx context.Context, name string) (core.RaceDecider, error) {
			return store, nil // gcsdecider.NewDecider(client, bucket, "elections/"+name, nil), nil
		},
		Callbacks: core.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				l, _ := core.FromContext(ctx)
				fmt.Println("leading with fencing token", l.FencingToken())
				stop() // the process is asked to end
				<-ctx.Done()
			},
			OnStoppedLeading: func() {
				// Tell the work to stop. Do not exit here: it has not resigned yet.
			},
			OnNewLeader: func(identity string) {
				// Also told of others, each time somebody else follows.
			},
		},
	})
	fmt.Println("resigned:", err == nil)
	// Output:
	// leading with fencing token 1
	// resigned: true
}
