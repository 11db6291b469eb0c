package k8slock_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"

	"github.com/cloudelect/cloudelect/adapters/k8slock"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/gcsdecider"
)

// A program for client-go keeps everything but its lock.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctx = klog.NewContext(ctx, klog.Logger{}) // no log lines here

	// In production: gcsdecider.NewDecider(client, "my-bucket", "elections/nightly", nil)
	lock, err := k8slock.New(memory.NewDecider(), "pod-7f9c", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				fmt.Println("leading with fencing token", lock.FencingToken())
				cancel() // the work is done: release the lease
			},
			OnStoppedLeading: func() { fmt.Println("stopped") },
		},
	})
	// Output:
	// leading with fencing token 1
	// stopped
}

// The whole program, over a bucket.
func Example_cloudStorage() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	identity, err := os.Hostname() // a pod's name; on other hosts append something random
	if err != nil {
		log.Fatal(err)
	}

	lock, err := k8slock.New(gcsdecider.NewDecider(client, "my-bucket", "elections/nightly", nil), identity, nil)
	if err != nil {
		log.Fatal(err)
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				for token := lock.FencingToken(); lock.Check() == nil && ctx.Err() == nil; time.Sleep(time.Second) {
					log.Println("leading with fencing token", token)
				}
			},
			OnStoppedLeading: func() { log.Fatal("not leading any more") },
		},
	})
}
