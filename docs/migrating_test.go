package docs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/dynamodecider"
	"github.com/cloudelect/cloudelect/gcsdecider"
)

// The program of MIGRATING.md that had vimeo/leaderelection.
func Example_fromVimeo() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		log.Fatal(err)
	}
	cfg := core.Config{
		LeaderID: "worker-1",
		HostPort: []string{"192.0.2.1:7000"},
		Decider: gcsdecider.NewDecider(client, "my-bucket", "elections/nightly",
			&gcsdecider.Options{VimeoForm: true}), // while candidates of both kinds run
		TermLength:   15 * time.Second,
		MaxClockSkew: time.Second,
		OnElected: func(ctx context.Context, expires *core.TimeView) {
			for ctx.Err() == nil && expires.ValueInFuture() {
				fmt.Println("leading") // work here; ctx ends when the leadership does
				stop()                 // this program has nothing more to do
			}
		},
		OnOusting:     func(context.Context) { log.Print("stopped leading") },
		LeaderChanged: func(_ context.Context, e entry.RaceEntry) { log.Print("the leader is ", e.LeaderID) },
	}
	if err := cfg.Acquire(ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
	// Output: leading
}

// The program of MIGRATING.md that had client-go's LeaderElector.
func Example_fromClientGo() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		log.Fatal(err)
	}
	err = core.RunElectionOrDie(ctx, &core.LeaderElectionConfig{
		Name:                 "nightly",
		MemberID:             "pod-7f9c",
		LeaseDurationSeconds: 15,
		Open: func(_ context.Context, name string) (core.RaceDecider, error) {
			return gcsdecider.NewDecider(client, "my-bucket", "elections/clientgo/"+name, nil), nil
		},
		Callbacks: core.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				fmt.Println("leading") // work here; ctx ends when the leadership does
				stop()                 // this program has nothing more to do
			},
			OnStoppedLeading: func() { log.Print("stopped leading") },
			OnNewLeader:      func(identity string) { log.Print("the leader is ", identity) },
		},
	})
	if err != nil {
		log.Print(err) // not resigned: the next leader waits for the term's end, and that is all
	}
	// Output: leading
}

// The program of MIGRATING.md that had etcd's elections.
func Example_fromEtcd() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		log.Fatal(err)
	}
	election := core.Config{
		LeaderID:   "worker-1",
		Decider:    gcsdecider.NewDecider(client, "my-bucket", "elections/etcd/nightly", nil),
		TermLength: 15 * time.Second,
	}
	reign, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	waited := context.AfterFunc(ctx, end) // a signal ends the waiting,
	leader, err := election.Campaign(reign)
	waited() // not the reign: the steps are finished first
	if err != nil {
		log.Fatal(err)
	}
	for step := range 3 {
		if err := leader.Check(); err != nil {
			log.Fatal("not the leader any more: ", err)
		}
		fmt.Println("step", step, leader.FencingToken() > 0)
	}
	if err := leader.Resign(reign); err != nil {
		log.Print(err) // the next leader waits for the term's end, and that is all
	}
	// Output:
	// step 0 true
	// step 1 true
	// step 2 true
}

// The program of MIGRATING.md that had a DynamoDB lock client.
func Example_fromDynamoDBLock() {
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	election := core.Config{
		LeaderID:   "worker-1",
		Decider:    dynamodecider.NewDecider(dynamodb.NewFromConfig(cfg), "elections", "spock", nil),
		TermLength: 15 * time.Second,
		WaitAtMost: time.Minute,
	}
	err = election.RunAsLeader(ctx, func(ctx context.Context, l *core.Leadership) error {
		fmt.Printf("had: %q\n", l.Checkpoint())
		// Work here. ctx ends when the lock is lost or cannot be renewed in time.
		return l.SaveCheckpoint(ctx, []byte("page 12"))
	})
	switch {
	case errors.Is(err, core.ErrHeld):
		log.Print("somebody else has it: ", err)
	case err != nil:
		log.Fatal(err)
	}
	// Output: had: ""
}
